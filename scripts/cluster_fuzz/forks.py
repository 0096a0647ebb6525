"""Layers of Caffe's forks (pycaffe_dist/layers/<family>/), on images, on rows, and losses."""

from __future__ import annotations

from cluster_fuzz.writer import CLASSES, Top, Writer, boolean

CURVES = ("ReLU6", "HardSwish", "Mish", "SeLU", "GRN")
LOSSES = ("SmoothL1Loss", "L1Loss", "WeightedEuclideanLoss", "TripletLoss", "CenterLoss")
LOSSES += ("FocalLoss", "MarginInnerProduct", "DiceCoefLoss")
BY_BATCH = ("CenterLoss", "DiceCoefLoss")  # of which the mean over ranks is not the joint batch's


class Forks(Writer):
    def fork(self, kind: str, x: Top, shape: tuple[int, ...], body: str = "") -> Top:
        self.features |= {"a fork's", kind}
        return self.one(kind, x, shape, body)

    def ip(self, x: Top, n: int | None = None, names: tuple[str, ...] = (), more: str = "") -> Top:
        raise NotImplementedError

    # -- on images ---------------------------------------------------------------------------------

    def fork_on_images(self, x: Top) -> Top:
        c, h, w = x.shape
        fitting = [self.depthwise, self.interp, self.normalize, self.axpy, self.channel_scale]
        fitting += [self.curve, self.dense_block, self.running_bn, self.shuffle]
        if h < 5:
            fitting.append(self.upsample)
        if c % 4 == h % 2 == w % 2 == 0:
            fitting.append(self.reorg)
        return self.rng.choice(fitting)(x)

    def depthwise(self, x: Top) -> Top:
        c, bias = x.shape[0], self.chance(0.5)
        window = f"num_output: {c} group: {c} kernel_size: 3 pad: 1 bias_term: {boolean(bias)}"
        body = f"{self.params(1 + bias)} convolution_param {{ {window} }}"
        return self.fork("DepthwiseConvolution", x, x.shape, body)

    def interp(self, x: Top) -> Top:
        h, w = self.rng.randint(1, 8), self.rng.randint(1, 8)
        body = f"interp_param {{ height: {h} width: {w} }}"
        return self.fork("Interp", x, (x.shape[0], h, w), body)

    def normalize(self, x: Top) -> Top:
        across, common = boolean(self.chance(0.5)), boolean(self.chance(0.5))
        body = f"norm_param {{ across_spatial: {across} channel_shared: {common} }}"
        return self.fork("Normalize", x, x.shape, f"{self.params(1)} {body}")

    def axpy(self, x: Top) -> Top:
        weights = self.one(
            "Pooling", x, (x.shape[0], 1, 1), "pooling_param { pool: AVE global_pooling: true }"
        )
        top = self.fresh("a")
        self.features |= {"a fork's", "Axpy"}
        self.add("Axpy", [weights.name, x.name, x.name], [top])
        return Top(top, x.shape)

    def channel_scale(self, x: Top) -> Top:
        _, h, w = x.shape
        body = f"{self.params(2)} convolution_param {{ num_output: 1 kernel_size: 1 }}"
        scale, top = self.one("Convolution", x, (1, h, w), body), self.fresh("c")
        self.features |= {"a fork's", "ChannelScale"}
        self.add("ChannelScale", [x.name, scale.name], [top])
        return Top(top, x.shape)

    def upsample(self, x: Top) -> Top:
        c, h, w = x.shape
        return self.fork("Upsample", x, (c, 2 * h, 2 * w), "upsample_param { scale: 2 }")

    def reorg(self, x: Top) -> Top:
        c, h, w = x.shape
        return self.fork("Reorg", x, (4 * c, h // 2, w // 2), "reorg_param { stride: 2 }")

    def shuffle(self, x: Top) -> Top:
        group = self.rng.choice([g for g in (1, 2, 3) if x.shape[0] % g == 0])
        body = f"shuffle_channel_param {{ group: {group} }}"
        return self.fork("ShuffleChannel", x, x.shape, body)

    def running_bn(self, x: Top) -> Top:
        """PSPNet's, whose mean and variance are parameters."""
        self.features.add("BatchNorm")
        return self.fork("BN", x, x.shape, "bn_param { slope_filler { value: 1 } }")

    def dense_block(self, x: Top) -> Top:
        """With BatchNorms of its own, which are not synchronised."""
        c, h, w = x.shape
        self.features.add("by batch")
        filler = 'Filter_Filler { type: "xavier" } BN_Scaler_Filler { value: 1 }'
        body = f"numTransition: 2 initChannel: {c} growthRate: 2 {filler}"
        return self.fork("DenseBlock", x, (c + 4, h, w), f"denseblock_param {{ {body} }}")

    # -- on blobs of any shape ---------------------------------------------------------------------

    def curve(self, x: Top) -> Top:
        return self.fork(self.rng.choice(CURVES), x, x.shape)

    def layer_norm(self, x: Top) -> Top:
        return self.fork("LayerNorm", x, x.shape, self.params(2))

    def fork_on_rows(self, x: Top) -> Top:
        if x.shape[0] < 3 or self.chance(0.5):  # two values less their mean are rounding, or ±1
            return self.curve(x)
        return self.layer_norm(x)

    # -- losses ------------------------------------------------------------------------------------

    def fork_loss(self, kind: str, x: Top, weight: str, ignored: str) -> None:
        out = [self.fresh("loss")]
        self.features |= {"a fork's", kind}
        if kind in BY_BATCH:
            self.features.add("by batch")
        bottoms = self._bottoms(kind, x)
        if kind == "FocalLoss":
            weight = f"{weight} {ignored}"
        elif kind == "CenterLoss":
            filler = f'num_output: {CLASSES} center_filler {{ type: "xavier" }}'
            weight = f"loss_weight: 0.1 center_loss_param {{ {filler} }}"
        elif kind == "MarginInnerProduct":
            how = self.rng.choice(["SINGLE", "DOUBLE", "QUADRUPLE"])
            param = f"num_output: {CLASSES} type: {how} base: 5 gamma: 0.1 lambda_min: 1"
            top = self.fresh("i")
            self.add(kind, bottoms, [top], f"margin_inner_product_param {{ {param} }}")
            kind, bottoms = "SoftmaxWithLoss", [top, "lab"]
        self.add(kind, bottoms, out, weight)

    def _bottoms(self, kind: str, x: Top) -> list[str]:
        if kind in ("FocalLoss", "CenterLoss", "MarginInnerProduct"):
            return [self.ip(x, CLASSES).name, "lab"]
        if kind == "DiceCoefLoss":
            return [self.one("Sigmoid", self.ip(x, 1), (1,)).name, "lab"]
        many = {"TripletLoss": 3, "WeightedEuclideanLoss": 2}.get(kind, 2)
        bottoms = [self.ip(x, 3).name for _ in range(many)]
        return [*bottoms, "lab"] if kind == "WeightedEuclideanLoss" else bottoms
