"""Layers on images, (C, H, W)."""

from __future__ import annotations

from cluster_fuzz.forks import Forks
from cluster_fuzz.writer import Top, boolean


class Images(Forks):
    def conv(self, x: Top) -> Top:
        (c, h, w), r = x.shape, self.rng
        group = r.choice([g for g in (1, 1, 2, 3) if c % g == 0])
        pad, stride = r.randint(0, 1), r.choice([1, 1, 2])
        k = r.randint(1, min(3, h + 2 * pad, w + 2 * pad))
        self.features.add("group conv" if group > 1 else "conv")
        shape = group * r.randint(1, 3), *((d + 2 * pad - k) // stride + 1 for d in (h, w))
        window = f"kernel_size: {k} pad: {pad} stride: {stride} group: {group}"
        return self._convolution(x, shape, window, self.chance(0.8))

    def _convolution(
        self, x: Top, shape: tuple[int, ...], window: str, bias: bool, names: tuple[str, ...] = ()
    ) -> Top:
        body = f"num_output: {shape[0]} {window} bias_term: {boolean(bias)}"
        params = self.params(1 + bias, names)
        return self.one("Convolution", x, shape, f"{params} convolution_param {{ {body} }}")

    def deconv(self, x: Top) -> Top:
        (c, h, w), r = x.shape, self.rng
        group = r.choice([g for g in (1, 2) if c % g == 0])
        n, k, stride = group * r.randint(1, 2), r.randint(2, 3), 1 if h > 6 else r.randint(1, 2)
        bias = self.chance(0.7)
        self.features.add("deconv")
        body = (
            f"{self.params(1 + bias)} convolution_param {{ num_output: {n} kernel_size: {k} "
            f"stride: {stride} group: {group} bias_term: {boolean(bias)} }}"
        )
        return self.one("Deconvolution", x, (n, stride * (h - 1) + k, stride * (w - 1) + k), body)

    def pool(self, x: Top) -> Top:
        (c, h, w), r = x.shape, self.rng
        if min(h, w) < 3:
            return x
        kind, stride = r.choice(["AVE", "AVE", "MAX"]), r.randint(1, 2)
        body = f"pooling_param {{ pool: {kind} kernel_size: 2 stride: {stride} }}"
        return self.one("Pooling", x, (c, *(-(-(d - 2) // stride) + 1 for d in (h, w))), body)

    def lrn(self, x: Top) -> Top:
        region = self.rng.choice(["ACROSS_CHANNELS", "WITHIN_CHANNEL"])
        self.features.add("LRN")
        body = f"lrn_param {{ local_size: 3 alpha: 0.5 norm_region: {region} }}"
        return self.one("LRN", x, x.shape, body)

    def branches(self, x: Top) -> Top:
        """Two convolutions of one blob, or of its slices, maybe with shared weights; joined."""
        c, h, w = x.shape
        if c % 2 == 0 and self.chance(0.5):
            names = [self.fresh("s"), self.fresh("s")]
            self.add("Slice", [x.name], names, "slice_param { axis: 1 }")
            parts = [Top(name, (c // 2, h, w)) for name in names]
            self.features.add("slice")
        else:
            parts = [x, x]
            self.features.add("split")
        shared: tuple[str, ...] = ()
        if self.chance(0.5):
            shared = (f"cw{self.count}", f"cb{self.count}" if self.chance(0.6) else "")
            self.features.add("shared")
        shape = self.rng.randint(1, 4), h, w
        window = "kernel_size: 3 pad: 1"
        tops = [self._convolution(part, shape, window, True, shared) for part in parts]
        return self.join(*tops)

    def rows(self, x: Top) -> Top:
        """An inner product along the last axis alone: many rows for each record."""
        n, top = self.rng.randint(2, 6), self.fresh("i")
        body = f"{self.params(2)} inner_product_param {{ num_output: {n} axis: 3 }}"
        self.products.append(self.add("InnerProduct", [x.name], [top], body))
        self.features.add("rows")
        return Top(top, (*x.shape[:2], n))

    def image_op(self, x: Top, norms: bool) -> Top:
        """One more layer, or a few."""
        ops = [self.conv, self.conv, self.pool, self.lrn, self.branches, self.branches]
        ops += [self.scale, self.act, self.act, self.fork_on_images, self.fork_on_images]
        if x.shape[1] < 8:
            ops += [self.deconv]
        if norms:
            ops += [self.norm, self.norm]
        if self.chance(0.12):
            return self.rows(x)
        return self.rng.choice(ops)(x)
