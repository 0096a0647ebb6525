"""MatWrite: batches into files of MATLAB, as DeepLab's scripts read them."""

from __future__ import annotations

import os

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.data import mat_sink
from pycaffe_dist.files import make_folder, read_bytes
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.base_data import naming


@register("MatWrite")
class MatWrite(Layer):
    """In every pass writes bottom i as the array ``data`` of ``<prefix><name>_blob_<i>.mat``.

    The name is ``iter_<pass>``, or the first word of that line of ``source``, without its last
    ``strip`` characters.  With ``period`` p only passes 0, p, 2p, … write.  MATLAB sees the axes in
    reverse, (W, H, C, N).  A net that is only timed or tried writes nothing.
    """

    bottoms = (1, None)
    tops = 0
    remembers = True  # how many passes there were; every run begins anew

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.mat_write_param
        self.check(p.period > 0, f"period must be above 0, found {p.period}")
        self.check(p.strip >= 0, f"strip must not be negative, found {p.strip}")
        self.passes = 0
        self.names: list[str] | None = None
        if p.source and self.context.writes and not self.context.dry:
            self.names = self._read_names(p.source, p.strip)

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    def forward(self, bottom: Views, top: Views) -> None:
        p, iteration = self.layer_param.mat_write_param, self.passes
        self.passes += 1
        if iteration % p.period or not self.context.writes:
            return
        name = f"iter_{iteration}"
        if self.names is not None:
            self.check(
                iteration < len(self.names),
                f"{p.source} has names for {len(self.names)} passes, this is one more; "
                "run fewer, or list more",
            )
            name = self.names[iteration]
        with naming(self):
            for i, view in enumerate(bottom):
                path = f"{p.prefix}{name}_blob_{i}.mat"
                make_folder(os.path.dirname(path) or ".")
                mat_sink.write(path, "data", View(view.blob).data.reshape(view.legacy_shape()))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _read_names(self, source: str, strip: int) -> list[str]:
        with naming(self):
            lines = read_bytes(source).decode("utf-8", "surrogateescape").splitlines()
        names = []
        for number, line in enumerate(lines, 1):
            word = (line.split() or [""])[0]
            self.check(
                len(word) > strip,
                f"{source}:{number}: a name of more than strip = {strip} characters was expected, "
                f"found {word!r}",
            )
            names.append(word[: len(word) - strip])
        return names
