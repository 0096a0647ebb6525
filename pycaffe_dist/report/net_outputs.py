"""PMLS-Caffe's table of what nets put out: ``<prefix>.netoutputs``, comma-separated.

    Iteration,time,loss,accuracy,loss[1]
    0,0.31,2.302585,0.1,2.302585
    100,12.02,0.421,0.87,0.421

First the training net, then after an empty line each test net.  ``time`` is seconds since the
start, ``loss`` the weighted sum; then come the outputs by name.  PMLS-Caffe writes it at the end;
here it is brought up to date at every test as well.
"""

from __future__ import annotations

import csv
import io
import time
from types import TracebackType

from pycaffe_dist import events as e
from pycaffe_dist.files import atomic_write
from pycaffe_dist.report.metrics import by_name


class NetOutputs:
    """Subscriber that keeps every displayed and tested output.

    Args:
        prefix: the file is ``<prefix>.netoutputs``.
    """

    def __init__(self, prefix: str) -> None:
        self.path = f"{prefix}.netoutputs"
        self._begin = time.perf_counter()
        self._rows: dict[int, list[dict[str, str]]] = {}  # by net: -1 trains, tests from 0 on
        self._write()  # what cannot be written is better known before the training

    def __call__(self, event: e.Event) -> None:
        if isinstance(event, e.Displayed):
            self._add(-1, event.iteration, event.loss, event.outputs)
        elif isinstance(event, e.Tested):
            weighted = sum(o.loss_weight * o.value for o in event.outputs)
            loss = weighted if event.loss is None else event.loss
            self._add(event.net, event.iteration, loss, event.outputs)
            self._write()

    def __enter__(self) -> NetOutputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._write()

    def _add(self, net: int, iteration: int, loss: float, outputs: list[e.Output]) -> None:
        seconds = round(time.perf_counter() - self._begin, 3)
        row = [("Iteration", str(iteration)), ("time", str(seconds)), ("loss", f"{loss:.7g}")]
        row += [(output.name, f"{output.value:.7g}") for output in outputs]
        self._rows.setdefault(net, []).append(by_name(row))

    def _write(self) -> None:
        tables = [_table(self._rows[net]) for net in sorted(self._rows)]
        with atomic_write(self.path) as file:
            file.write("\n".join(tables).encode())


def _table(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
