"""LRN, BatchNorm, MVN and Softmax."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates, split
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.lrn import LRN
from pycaffe_dist.layers.mvn import MVN
from pycaffe_dist.layers.softmax import Softmax
from pycaffe_dist.layers.work import planes


@accelerates("LRN")
class DeviceLRN(OnDevice, LRN):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        scale = self.kept("scale", x.shape)
        region, sizes = self._region(x.shape)
        added = (self.k,) if self.across else ()
        self.launch(f"lrn_{region}_scale", x.size, *sizes, self.alpha_over_n, *added, x, scale)
        self.launch("lrn_forward", x.size, self.beta, x, scale, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not (propagate_down[0] or self.across):
            return
        y, gy, gx = top[0].data, top[0].diff, bottom[0].diff
        in_place = top[0].blob is bottom[0].blob
        x = y if in_place else bottom[0].data
        scale, ratio = self.kept("scale", y.shape), self.spare("ratio", y.shape)
        region, sizes = self._region(y.shape)
        factor = 2 * self.alpha_over_n * self.beta
        self.launch("lrn_ratio", y.size, gy, y, scale, ratio)
        self.launch(
            f"lrn_{region}_backward",
            *(y.size, *sizes, factor, self.beta, in_place),
            *(x, gy, scale, ratio, gx),
        )

    def _region(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, int, int]]:
        _, channels, height, width = shape
        if self.across:
            return "across", (channels, height * width, self.size)
        return "within", (height, width, self.size)


@accelerates("BatchNorm")
class DeviceBatchNorm(OnDevice, BatchNorm):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = planes(bottom[0].data), planes(top[0].data)
        outer, channels, inner = x.shape
        mean, inverse = self.kept("mean", (channels,)), self.kept("inverse", (channels,))
        if self.use_global_stats:
            stored = [param.data for param in self.params]
            self.launch("batch_norm_stored", channels, self.eps, *stored, mean, inverse)
            self.launch("batch_norm_normalise", x.size, channels, inner, x, mean, inverse, y)
            return
        values = outer * inner
        variance = self.kept("variance", (channels,))
        share = 1 / values if values else 0.0
        self.sums("channel_sums", x.shape, x, out=mean, scale=share)
        mean = self.mean_over_ranks(mean)
        self.sums("channel_deviations", x.shape, x, mean, out=variance, scale=share)
        variance = self.mean_over_ranks(variance)
        stored = [param.change_data() for param in self.params]
        settings = values * self.ranks, self.moving_average_fraction, self.eps
        self.launch("batch_norm_statistics", channels, *settings, mean, variance, *stored, inverse)
        centred = self.kept("centred", x.shape)
        self.launch("batch_norm_forward", x.size, channels, inner, x, mean, inverse, centred, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, gx = planes(top[0].diff), planes(bottom[0].diff)
        outer, channels, inner = gy.shape
        inverse = self.kept("inverse", (channels,))
        if self.use_global_stats:
            self.launch("scale_forward", gy.size, channels, inner, gy, inverse, gx)
            return
        centred = self.kept("centred", gy.shape)
        splits = split(outer * inner, channels)
        sums = [self.spare(name, (channels * splits,)) for name in ("partial", "partial dot")]
        means = self.spare("means", (2, channels))
        shape = splits, outer, channels, inner
        self.launch("batch_norm_sums", channels * splits, *shape, gy, centred, *sums)
        for partial, mean in zip(sums, means, strict=True):
            share = 1 / (outer * inner) if outer * inner else 0.0
            self.launch("finish_sums", channels, splits, share, 0, partial, mean)
        mean, dot = self.mean_over_ranks(means)
        self.launch(
            "batch_norm_backward", gy.size, channels, inner, gy, centred, mean, dot, inverse, gx
        )


@accelerates("MVN")
class DeviceMVN(OnDevice, MVN):
    def forward(self, bottom: Views, top: Views) -> None:
        rows, size = self.rows
        deviation = self.kept("deviation", (rows,))
        settings = size, self.normalize_variance, self.eps
        self.launch("mvn_forward", rows, *settings, bottom[0].data, top[0].data, deviation)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        rows, size = self.rows
        deviation = self.kept("deviation", (rows,))
        arrays = top[0].data, top[0].diff, deviation, bottom[0].diff
        self.launch("mvn_backward", rows, size, self.normalize_variance, *arrays)


@accelerates("Softmax")
class DeviceSoftmax(OnDevice, Softmax):
    def forward(self, bottom: Views, top: Views) -> None:
        softmax(self, self.folded, bottom[0].data, top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        outer, classes, inner = self.folded
        arrays = top[0].data, top[0].diff, bottom[0].diff
        if inner == 1:
            self.launch("softmax_rows_backward", outer, classes, *arrays)
        else:
            self.launch("softmax_backward", outer * inner, classes, inner, *arrays)


def softmax(layer: OnDevice, folded: tuple[int, int, int], *arrays: object) -> None:
    """y = exp x / Σ exp x over the classes: a block for each row, or a thread for each position."""
    outer, classes, inner = folded
    if inner == 1:
        layer.launch("softmax_rows_forward", outer, classes, *arrays)
    else:
        layer.launch("softmax_forward", outer * inner, classes, inner, *arrays)
