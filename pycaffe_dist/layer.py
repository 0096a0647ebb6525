"""Layer: what every layer type is, and what it is built in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array, ArrayModule, DType, Facts
from pycaffe_dist.blob import Blob, BlobVec, Flags, View, Views
from pycaffe_dist.engines.base import NUMPY, Engine, Loss, default_engine
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.fillers import check_filler, fill
from pycaffe_dist.memory import Home
from pycaffe_dist.proto.caffe_pb2 import TEST, FillerParameter, LayerParameter, Phase
from pycaffe_dist.registry import register as register

Arity = int | tuple[int, int | None]


@dataclass(frozen=True)
class DataSettings:
    """How the data layers of a net make their batches.

    Attributes:
        threads: so many for each layer; 0 makes batches when they are asked for.  None is what
            PCD_DATA_THREADS says, or 1.
        bad_records: ``stop`` at a record that cannot be decoded, or ``skip`` it and take the next.
        shuffle_seed: training reads records in a new order every time round, which is the same on
            all ranks.  None: in the order of the source.
    """

    threads: int | None = None
    bad_records: str = "stop"
    shuffle_seed: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 0:
            raise PcdError(f"data threads: {self.threads}; give 0 or more")
        if self.bad_records not in ("stop", "skip"):
            raise PcdError(f'bad records: "{self.bad_records}"; give stop or skip')

    def count_threads(self) -> int:
        if self.threads is not None:
            return self.threads
        given = os.environ.get("PCD_DATA_THREADS", "1")
        if not given.isdecimal():
            raise PcdError(f'PCD_DATA_THREADS is "{given}"; give a number, 0 or more')
        return int(given)


@dataclass
class Context:
    """What a layer is built in."""

    dtype: DTypeLike = np.float32  # Layer.dtype is what it means
    engine: Engine = field(default_factory=default_engine)
    dry: bool = False  # shapes only: no values are filled in, no files are opened
    python: bool = True  # Python layers may run: their modules are imported
    writes: bool = True  # layers that write files do so; not where a net is only timed or tried
    rank: int = 0  # of `ranks` nets that share the work (Caffe's solver_rank, solver_count)
    ranks: int = 1
    data: DataSettings = field(default_factory=DataSettings)

    @property
    def home(self) -> Home:
        return self.engine.home

    @property
    def xp(self) -> ArrayModule:
        return self.engine.xp


@dataclass(frozen=True)
class OuterProduct:
    """A parameter's gradient as a product of two factors: ∂W = AᵀB, or BᵀA if ``transposed``.

    A: (rows, outputs)   B: (rows, inputs).  The gradient of a bias is Σ A over the rows.
    """

    rows: int
    outputs: int
    inputs: int
    transposed: bool = False

    def sides(self, a: Array, b: Array) -> tuple[Array, Array]:
        """(L, R) with ∂W = LᵀR."""
        return (b, a) if self.transposed else (a, b)


class Layer:
    """Base of all layers.

    A subclass says how many bottoms and tops it takes, sets itself up once in ``setup``, gives its
    tops their shapes in ``reshape`` (called before every forward), and computes in ``forward`` and
    ``backward``.  Bottoms, tops and ``self.params`` are views: ``data`` and ``diff`` are arrays of
    the module ``self.xp``.  Gradients of parameters are added to, those of bottoms overwritten.
    """

    type = ""
    bottoms: Arity = 1  # a number, or (least, most) with None for no limit
    tops: Arity = 1
    equal_counts = False  # as many tops as bottoms
    ones_count = True  # of stored parameters' shapes; False where forks disagree on axes of 1
    any_size: tuple[int, ...] = ()  # parameters that stay as they are where a file's do not fit
    auto_tops = False  # unnamed tops are made for what is missing
    label_bottoms: tuple[int, ...] = ()  # never get a gradient, not even by force_backward
    remembers = False  # a forward depends on those before it, by more than what `update` changes
    changes_batch = False  # how many items its tops have is another number in every pass
    fork_fields: tuple[str, ...] = ()  # what it reads of forks' additions to BVLC's messages
    on_host = False  # computes in plain NumPy memory, wherever the rest of the net does
    follows_batches = False  # a pass changes its parameters: on several ranks they drift apart
    phase_reads = 0  # how often any layer of this process was asked for its phase

    def __init__(self, param: LayerParameter, context: Context) -> None:
        self.layer_param = LayerParameter()
        self.layer_param.CopyFrom(param)
        self.name = param.name
        self._phase = param.phase if param.HasField("phase") else TEST
        context = replace(context, engine=NUMPY) if self.on_host else context
        self.context = context
        self.xp = context.xp
        self.dtype: DType = np.dtype(context.dtype)
        self.blobs = BlobVec(self.dtype)
        self.params: list[View] = []
        self.param_propagate_down: list[bool] = []
        self.loss: list[float] = []

    @property
    def phase(self) -> Phase:
        """TRAIN or TEST.  It is counted who asks: a net in which nobody does is one for both."""
        Layer.phase_reads += 1
        return self._phase

    # -- what a subclass writes --------------------------------------------------------------

    def setup(self, bottom: Views, top: Views) -> None:
        """Read the parameters, make the blobs (once)."""

    def reshape(self, bottom: Views, top: Views) -> None:
        """Give the tops their shapes."""
        raise NotImplementedError

    def forward(self, bottom: Views, top: Views) -> None:
        raise NotImplementedError

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        raise self.error("has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        """Multiplications and additions of one forward pass."""
        return sum(t.count for t in top)

    def outer_product(self, top: Views, bottom: Views) -> OuterProduct | None:
        """How the first parameter's gradient is a product of ``factors``, if it is one."""
        return None

    def factors(self, top: Views, bottom: Views) -> tuple[Array, Array]:
        """(A, B) of an outer product, after backward has got to this layer."""
        raise NotImplementedError

    def sources(self) -> Facts:
        """What all ranks must find in their files, by name: where from, how many records."""
        return {}

    def gives_gradient(self, index: int) -> bool:
        """Whether backward adds to the gradient of parameter ``index``."""
        return self.param_propagate_down[index]

    def statistics(self) -> list[Blob]:
        """The parameters that passes change, of a layer that has such: all, unless it says."""
        return list(self.blobs)

    def get_state(self) -> Facts:
        """What, besides blobs, the next forward depends on: numbers, strings, lists, arrays."""
        return {}

    def set_state(self, state: Facts) -> None:
        """Resume from what ``get_state`` gave."""

    def deal_state(self, states: Sequence[Facts], rank: int, ranks: int) -> Facts:
        """What to resume from as ``rank`` of ``ranks``, if another number of them gave ``states``.

        A rank that is new continues as rank 0 did, unless the layer knows better.
        """
        return states[rank if rank < len(states) else 0]

    # -- what the net calls ------------------------------------------------------------------

    def set_up(self, bottom: Views, top: Views) -> None:
        """Check the counts, set up, shape the tops, put loss weights into their diffs."""
        try:
            self.check_counts(len(bottom), len(top))
            self.setup(bottom, top)
            self.load_given_blobs()
            self.reshape(bottom, top)
            self.set_loss_weights(top)
        except NetError as e:
            if (named := self.named(e)) is e:
                raise  # as its own cause it would stay in memory, with all layers that it has seen
            raise named from e

    def run_forward(self, bottom: Views, top: Views) -> Loss:
        """Shape, compute, and return the loss: Σ over tops of data · loss weight."""
        try:
            self.reshape(bottom, top)
            self.forward(bottom, top)
        except NetError as e:
            raise self.named(e) from e
        loss: Loss = 0.0
        for view, weight in zip(top, self.loss, strict=False):
            if weight:
                loss += self.context.engine.dot(view.data, view.diff)
        return loss

    def run_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """What the net calls in its backward pass."""
        self.backward(top, propagate_down, bottom)

    def force_backward_allowed(self, bottom_index: int) -> bool:
        return bottom_index not in self.label_bottoms

    # -- help for subclasses -----------------------------------------------------------------

    def error(self, message: str) -> NetError:
        return NetError(f'layer "{self.name}" ({self.type}): {message}')

    def named(self, error: NetError) -> NetError:
        """The error with this layer's name, which those of blobs do not have."""
        text = str(error)
        return error if text.startswith('layer "') else self.error(text)

    def check(self, condition: bool, message: str) -> None:
        if not condition:
            raise self.error(message)

    def add_blob(self, shape: Sequence[int], filler: FillerParameter | None = None) -> None:
        """Add a parameter; without a filler it is zeros.  Blobs in the prototxt replace filling."""
        blob = Blob(shape, self.dtype)
        self.adopt(blob)
        given = len(self.layer_param.blobs) > 0
        if filler is not None and not given:
            try:
                if self.context.dry:
                    check_filler(filler, blob.shape)
                else:
                    fill(filler, blob.data)
            except NetError as e:
                raise self.error(f"parameter {len(self.blobs) - 1}: {e}") from e

    def adopt(self, blob: Blob) -> None:
        """Take a blob as the next parameter."""
        self.blobs.append(blob)
        self.params.append(View(blob, self.context.home, "diff"))
        self.param_propagate_down.append(True)

    def load_given_blobs(self) -> None:
        """Values written into the prototxt itself (`blobs { ... }`)."""
        given = self.layer_param.blobs
        if not given or not self.blobs:
            return
        self.check(
            len(given) == len(self.blobs),
            f"{len(given)} blobs are given, {len(self.blobs)} are needed",
        )
        for blob, proto in zip(self.blobs, given, strict=True):
            values = proto.double_data or proto.data
            self.check(
                len(values) == blob.count,
                f"a given blob has {len(values)} values, {blob.shape} needs {blob.count}",
            )
            if not self.context.dry:
                blob.data.reshape(-1)[:] = values
        self.layer_param.ClearField("blobs")

    def set_loss_weights(self, top: Views) -> None:
        weights = list(self.layer_param.loss_weight)
        if len(weights) not in (0, len(top)):
            found = f"{len(weights)} loss_weight for {len(top)} tops"
            raise self.error(f"{found}; give none or one for each")
        self.loss = weights or [0.0] * len(top)
        for view, weight in zip(top, self.loss, strict=True):
            if weight and not self.context.dry:
                view.blob.diff[...] = weight

    def check_counts(self, bottoms: int, tops: int) -> None:
        for what, count, arity in (("bottom", bottoms, self.bottoms), ("top", tops, self.tops)):
            least, most = arity if isinstance(arity, tuple) else (arity, arity)
            if count < least or (most is not None and count > most):
                wanted = f"{least} to {most}" if most is not None else f"{least} or more"
                wanted = str(least) if most == least else wanted
                raise self.error(f"takes {wanted} {what} blob(s), found {count}")
        if self.equal_counts and bottoms != tops:
            raise self.error(f"takes as many tops as bottoms, found {bottoms} and {tops}")
