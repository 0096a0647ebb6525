"""Layers on rows of numbers, (F,), losses, and the whole net."""

from __future__ import annotations

from cluster_fuzz.forks import LOSSES
from cluster_fuzz.images import Images
from cluster_fuzz.writer import CLASSES, Top, boolean

LARGE = 450  # values of a row; more are made fewer by an inner product


class NetMaker(Images):
    def ip(self, x: Top, n: int | None = None, names: tuple[str, ...] = (), more: str = "") -> Top:
        if n is None:
            n = self.rng.randint(150, 400) if self.chance(0.2) else self.rng.randint(1, 24)
            if n >= 150:
                self.features.add("large fc")
        bias = bool(names[1:]) or self.chance(0.75)
        transpose = self.chance(0.3) and not names
        if transpose:
            self.features.add("transpose")
        top, unit = self.fresh("i"), "normalize: true" if self.chance(0.04) else ""
        if unit and not transpose:
            self.features |= {"a fork's", "normalize"}
        body = (
            f"{self.params(1 + bias, names)} {more} inner_product_param {{ num_output: {n} "
            f"bias_term: {boolean(bias)} {'transpose: true' if transpose else unit} }}"
        )
        self.products.append(self.add("InnerProduct", [x.name], [top], body))
        return Top(top, (n,))

    def shared_ips(self, x: Top) -> Top:
        self.features.add("shared")
        mark, kind = self.count, self.rng.randint(0, 3)
        names = (f"w{mark}", f"b{mark}")
        if kind == 0:  # the same layer twice, one after the other
            if x.shape[0] > 40:
                x = self.ip(x, 12)
            n = x.shape[0]
            return self.act(self.ip(self.act(self.ip(x, n, names)), n, names))
        if kind == 1:  # on two inputs
            a, b = self.ip(x, 9), self.ip(x, 9)
            return self.join(self.ip(a, 7, names), self.ip(b, 7, names))
        if kind == 2:  # only the bias
            return self.join(self.ip(x, 6, ("", names[1])), self.ip(x, 6, ("", names[1])))
        return self._tied(x, mark)

    def _tied(self, x: Top, mark: int) -> Top:
        """Weights that another layer sees as their transpose."""
        a, (n,) = self.ip(x, 6), x.shape
        top, tied = self.fresh("i"), self.fresh("i")
        self.features.add("tied")
        spec = f'param {{ name: "t{mark}" share_mode: PERMISSIVE }}'
        for bottom, out, size in ((x.name, top, 6), (a.name, tied, n)):
            body = f"{spec} inner_product_param {{ num_output: {size} bias_term: false }}"
            self.products.append(self.add("InnerProduct", [bottom], [out], body))
        self.add("Silence", [top], [])
        return Top(tied, (n,))

    def embed(self, x: Top) -> Top:
        n, top, joined = self.rng.randint(2, 6), self.fresh("e"), self.fresh("j")
        bias = self.chance(0.5)
        self.features.add("Embed")
        body = f"input_dim: {CLASSES} num_output: {n} bias_term: {boolean(bias)}"
        self.add("Embed", ["lab"], [top], f"{self.params(1 + bias)} embed_param {{ {body} }}")
        self.add("Concat", [x.name, top], [joined])
        return Top(joined, (x.shape[0] + n,))

    def recurrent(self, x: Top) -> Top:
        """T steps; each stream is a place in the batch, whose state goes on or begins anew."""
        r = self.rng
        steps, width, size = r.randint(1, 3), r.randint(2, 4), r.randint(2, 5)
        goes_on, kind = r.randint(0, 1), r.choice(["LSTM", "LSTM", "RNN", "Lstm"])
        self.features |= {kind, "state goes on"} if goes_on else {kind}
        seq, out = self._sequence(self.ip(x, steps * width), steps, width), self.fresh("q")
        cont = self._continues(steps, goes_on)
        takes_static = kind != "Lstm" and x.shape[0] < 50
        static = [x.name] if self.chance(0.3) and takes_static else []
        filler = 'weight_filler { type: "uniform" min: -0.2 max: 0.2 }'
        specs = self.params((5 if kind == "RNN" else 3) + len(static))
        if "lr_mult: 0 " in specs:
            self.features.add("frozen recurrent")
        param = "lstm_param" if kind == "Lstm" else "recurrent_param"
        body = f"{specs} {param} {{ num_output: {size} {filler} }}"
        self.add(kind, [seq, cont, *static], [out], body)
        return self._side_by_side(out, steps, size)

    def _sequence(self, wide: Top, steps: int, width: int) -> str:
        """(N, T·width) as (T, N, width)"""
        cut = [wide.name]
        if steps > 1:
            cut = [self.fresh("t") for _ in range(steps)]
            self.add("Slice", [wide.name], cut, "slice_param { axis: 1 }")
        timed, shape = [], f"dim: 1 dim: -1 dim: {width}"
        for piece in cut:
            timed.append(self.fresh("t"))
            self.add("Reshape", [piece], [timed[-1]], f"reshape_param {{ shape {{ {shape} }} }}")
        seq = self.fresh("q")
        self.add("Concat", timed, [seq], "concat_param { axis: 0 }")
        return seq

    def _continues(self, steps: int, goes_on: int) -> str:
        """The indicators: of the first step ``goes_on``, of the others 1."""
        dummy = "dummy_data_param {{ shape {{ dim: {} dim: @B }} data_filler {{ value: {} }} }}"
        first, rest, cont = (self.fresh("q") for _ in range(3))
        self.add("DummyData", [], [first], dummy.format(1, goes_on))
        if steps == 1:
            return first
        self.add("DummyData", [], [rest], dummy.format(steps - 1, 1))
        self.add("Concat", [first, rest], [cont], "concat_param { axis: 0 }")
        return cont

    def _side_by_side(self, out: str, steps: int, size: int) -> Top:
        """(T, N, size) as (N, T·size)"""
        parts = [out]
        if steps > 1:
            parts = [self.fresh("t") for _ in range(steps)]
            self.add("Slice", [out], parts, "slice_param { axis: 0 }")
        back = []
        for piece in parts:
            back.append(self.fresh("t"))
            body = f"reshape_param {{ shape {{ dim: -1 dim: {size} }} }}"
            self.add("Reshape", [piece], [back[-1]], body)
        if steps == 1:
            return Top(back[0], (size,))
        joined = self.fresh("j")
        self.add("Concat", back, [joined])
        return Top(joined, (size * steps,))

    def idle(self, x: Top) -> Top:
        """A layer that learns, but under no loss."""
        self.features.add("no gradient")
        y = self.ip(x, 3)
        if self.chance(0.5):
            self.add("Silence", [y.name], [])
        return x

    def stopped(self, x: Top) -> Top:
        self.features.add("propagate_down")
        return self.ip(x, more="propagate_down: false")

    def two(self, x: Top) -> Top:
        self.features.add("split")
        n = self.rng.randint(2, 8)
        return self.join(self.ip(x, n), self.ip(x, n))

    def flat_op(self, x: Top, norms: bool) -> Top:
        ops = [self.ip, self.ip, self.act, self.act, self.scale, self.two, self.shared_ips]
        ops += [self.shared_ips, self.embed, self.recurrent, self.idle, self.stopped, self.fading]
        ops += [self.fork_on_rows]
        if norms:
            ops += [self.norm]
        return self.rng.choice(ops)(x)

    # -- losses ------------------------------------------------------------------------------

    def losses(self, x: Top) -> None:
        names = ["euclid", "hinge", "contrast", "cross", "mean"]
        kinds = self.rng.sample(names, self.rng.choice([0, 0, 1, 2]))
        top = self.ip(x, CLASSES)
        body = f"{self._weight()} {self._ignored()}"
        self.add("SoftmaxWithLoss", [top.name, "lab"], ["loss"], body)
        self.add("Accuracy", [top.name, "lab"], ["accuracy"], "include { phase: TEST }")
        if kinds:
            self.features.add("several losses")
        for kind in kinds:
            self._loss(kind, x)
        if self.chance(0.2):
            self.fork_loss(self.rng.choice(LOSSES), x, self._weight(), self._ignored())

    def _loss(self, kind: str, x: Top) -> None:
        out, weight = [self.fresh("loss")], self._weight()
        if kind == "euclid":
            self.add("EuclideanLoss", [self.ip(x, 1).name, "lab"], out, weight)
        elif kind == "hinge":
            body = f"{weight} hinge_loss_param {{ norm: {self.rng.choice(['L1', 'L2'])} }}"
            self.add("HingeLoss", [self.ip(x, CLASSES).name, "lab"], out, body)
        elif kind == "contrast":
            a, b = self.ip(x, 4), self.ip(x, 4)
            self.add("ContrastiveLoss", [a.name, b.name, "lab"], out, weight)
        elif kind == "cross":
            body = f"{weight} {self._ignored()}"
            self.add("SigmoidCrossEntropyLoss", [self.ip(x, 1).name, "lab"], out, body)
        else:
            body = "reduction_param { operation: MEAN } loss_weight: 0.5"
            self.add("Reduction", [self.ip(x, 3).name], out, body)

    def _weight(self) -> str:
        return self.rng.choice(["", "", "loss_weight: 0.3", "loss_weight: 2"])

    def _ignored(self) -> str:
        """Some labels do not count, and the sum is divided in one way or another."""
        if self.chance(0.6):
            return ""
        self.features.add("ignore_label")
        mode = self.rng.choice(["VALID", "VALID", "FULL", "BATCH_SIZE", "NONE"])
        return f"loss_param {{ ignore_label: {self.rng.randint(0, 2)} normalization: {mode} }}"

    def make(self, shape: tuple[int, ...], norms: bool) -> str:
        """The text of all layers but the one that brings "data" and "label"."""
        self.add("Reshape", ["label"], ["lab"], "reshape_param { shape { dim: -1 } }")
        x = Top("data", shape)
        for _ in range(self.rng.randint(0, 3)):
            x = self.image_op(x, norms)
        x = self.flatten(x)
        if x.shape[0] > 150:
            x = self.ip(x, 20)
        for _ in range(self.rng.randint(0, 4)):
            x = self.flat_op(x, norms)
            if x.shape[0] > LARGE:
                x = self.ip(x, 20)
        self.losses(x)
        return "\n".join(self.lines)
