"""What the layers that read images have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.data import draws
from pycaffe_dist.data.prefetch import Batch, Prefetcher, share_out
from pycaffe_dist.data.transformer import CACHED, FEW, Draws, Transformer, output_shape
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.layer import Arity, Layer
from pycaffe_dist.proto.caffe_pb2 import TRAIN
from pycaffe_dist.rng import draw

MOST_BAD = 1000  # records that may be skipped for one batch


# What ``take`` gives: a record, a line of a list.
Item = Any
# What ``decode`` gives besides an image: a number, boxes, a map of numbers.
Label = Any


class BadRecord(NetError):
    """A record that cannot be decoded."""


@dataclass
class Draft:
    """A batch in the making: what goes where.

    ``items`` are what ``take`` gave for each place, ``ready`` has what is decoded already, ``bad``
    collects places whose item cannot be decoded.
    """

    items: list[Item]
    draws: Draws
    out: Array
    labels: Array
    ready: dict[int, tuple[Array, Label]] = field(default_factory=dict)
    bad: list[tuple[int, BadRecord]] = field(default_factory=list)


class BaseData(Layer):
    """Batches of images (batch, channels, height, width) and labels (batch,).

    A subclass says how large a batch is, opens its files, takes records in order and decodes them;
    it raises plain errors, to which the layer's name is added here.  ``take`` runs in one thread,
    ``decode`` in several.  A dry net opens nothing that it can do without.
    """

    bottoms = 0
    tops: Arity = 2
    source_shape: tuple[int, ...] | None = None  # of an image before it is cropped, once known
    fork_fields: tuple[str, ...] = (
        "TransformationParameter.crop_h",
        "TransformationParameter.crop_w",
        "TransformationParameter.crop_height",
        "TransformationParameter.crop_width",
    )

    # -- what a subclass writes --------------------------------------------------------------

    def batch_size(self) -> int:
        raise NotImplementedError

    def open(self) -> tuple[int, ...]:
        """Open the files; the shape of one image as it leaves the layer."""
        raise NotImplementedError

    def guess_shape(self) -> tuple[int, ...]:
        """The same from the settings, as far as they tell."""
        raise NotImplementedError

    def take(self, place: int) -> Item:
        """The next record, for a place in the batch."""
        raise NotImplementedError

    def decode(self, item: Item) -> tuple[Array, Label]:
        """The image (channels, height, width) and the label of what was taken.

        Raises:
            BadRecord: there is none in it.
        """
        raise NotImplementedError

    def describe(self, item: Item) -> str:
        """What to call it in errors."""
        raise NotImplementedError

    def position(self) -> Facts:
        """Where ``take`` stands; what is random about it in arrays."""
        raise NotImplementedError

    def go_to(self, position: Facts) -> None:
        """Take from a position on; what is not in it stays."""
        raise NotImplementedError

    def reopen(self) -> None:
        """In a forked process: trust nothing that a thread had in hand but what ``go_to`` sets."""

    def restarts(self) -> int:
        """How often the source has been read to its end."""
        return 0

    def label_shape(self, size: int, image: tuple[int, ...]) -> tuple[int, ...]:
        """Of the labels of so many images."""
        return (size,)

    def make_transformer(self) -> Transformer:
        return Transformer(self.layer_param.transform_param, self.phase)

    def shape_of(self, image: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an image as it leaves the layer."""
        self.source_shape = image
        return output_shape(self.layer_param.transform_param, image)

    # -- starting ----------------------------------------------------------------------------

    def setup(self, bottom: Views, top: Views) -> None:
        size = self.batch_size()
        self.check(size > 0, "batch_size must be positive")
        self.prefetcher: Prefetcher | None = None
        self.bad_records = 0  # skipped so far
        with naming(self):
            shape = self.guess_shape() if self.context.dry else self._start()
        top[0].reshape(size, *shape)
        if not self.context.dry:
            sizes = ",".join(map(str, top[0].shape))
            log.info("data_layer.cpp:45", "output data size: %s", sizes)
        if len(top) > 1:
            top[1].reshape(*self.label_shape(size, shape))

    def _start(self) -> tuple[int, ...]:
        """Caffe seeds the transformer twice, then the thread that reads: the draws must agree."""
        self.transformer = self.make_transformer()
        self.transformer.one_pass = self.context.engine.image_pass()
        self.transformer.init_rand()
        shape = self.open()
        self.transformer.init_rand()
        draw()
        self._unthreaded = Batch.of_type(self.dtype)
        self._used = self._state()
        self._restarts = self.restarts()
        return shape

    def reshape(self, bottom: Views, top: Views) -> None:
        pass

    # -- batches -----------------------------------------------------------------------------

    def forward(self, bottom: Views, top: Views) -> None:
        with naming(self):
            batch = self._next_batch()
        for view, blob in zip(top, (batch.data, batch.labels, batch.extra), strict=False):
            assert blob is not None, "the batch has no third blob"
            view.reshape(*blob.shape)
            view.share_data(blob)
        self._used = batch.state
        self.bad_records += len(batch.skipped)
        for message in batch.skipped:
            log.warning("base_data_layer.cpp", "Skipping a bad record: %s", message)
        for _ in range(self._restarts, batch.restarts):
            log.info("data_layer.cpp:73", "Restarting data prefetching from start.")
        self._restarts = batch.restarts

    def _next_batch(self) -> Batch:
        self._notice_fork()
        try:
            if not self.prefetcher and not self.context.data.count_threads():
                self.load_batch(self._unthreaded)
                return self._unthreaded
            if not self.prefetcher:
                depth = max(1, self.layer_param.data_param.prefetch)
                self.prefetcher = Prefetcher(self.load_batch, self.dtype, depth)
            batch = self.prefetcher.next()
        except Exception:
            self._go_back()  # asked again, the same comes of it
            raise
        if self.phase == TRAIN:
            self.prefetcher.tell_starvation(self.context.data.count_threads())
        return batch

    def _notice_fork(self) -> None:
        """In a forked process, where the thread is not, nothing is used that it was moving."""
        if self.prefetcher and self.prefetcher.process != os.getpid():
            self.prefetcher.abandon()
            self.reopen()
            self._go_back()

    def starvation(self) -> float:
        """The share of the time that the net waited for its batches."""
        return self.prefetcher.starvation() if self.prefetcher else 0.0

    def load_batch(self, batch: Batch) -> None:
        """Fill a batch; its first image decides the shape of all.  Runs in the thread."""
        size = self.batch_size()
        batch.skipped = []
        items = [self.take(i) for i in range(size)]
        numbers = self.transformer.draws(size)
        ready, shape = self.begin(items, numbers, batch)
        batch.data.reshape(size, *shape)
        batch.labels.reshape(*self.label_shape(size, shape))
        out, labels = batch.data.replace_data(), batch.labels.replace_data()
        draft = Draft(items, numbers, out, labels, ready)
        threads = max(1, self.context.data.count_threads())
        step = min(-(-size // threads), max(FEW, CACHED // max(1, draft.out[0].nbytes)))
        parts = [range(i, min(i + step, size)) for i in range(0, size, step)]
        while parts:
            share_out(lambda part: self.fill(draft, part), parts, threads)
            parts = [range(place, place + 1) for place in self._replace_bad(draft, batch)]
        self.complete(draft, batch)
        batch.state = self._state()
        batch.restarts = self.restarts()

    def begin(
        self, items: list[Item], draws: Draws, batch: Batch
    ) -> tuple[dict[int, tuple[Array, Label]], tuple[int, ...]]:
        """What is decoded to know the shape of the batch's images, and the shape."""
        while True:
            try:
                image, label = self.decode(items[0])
                break
            except BadRecord as e:
                items[0] = self._instead(0, e, batch)
        try:
            return {0: (image, label)}, self.begin_shape(image, label, draws[0])
        except NetError as e:
            raise NetError(f"{self.describe(items[0])}: {e}") from e

    def begin_shape(self, image: Array, label: Label, draws: Draws) -> tuple[int, ...]:
        """The shape of all images of a batch, from the first and its random numbers."""
        return self.shape_of(image.shape)

    def fill(self, draft: Draft, places: range) -> None:
        """Decode and transform what goes to some places.  Runs in several threads."""
        images: dict[int, Array] = {}
        checked = None
        for i in places:
            decoded = self.decoded(draft, i)
            if decoded is None:
                continue
            image, label = decoded
            if image.shape != checked:
                self.check_image(draft, i, image.shape)
                checked = image.shape
            images[i], draft.labels[i] = image, label
        self.transform(draft, images)

    def decoded(self, draft: Draft, place: int) -> tuple[Array, Label] | None:
        """The image and label for a place; None if its record is bad, which is remembered."""
        try:
            return draft.ready.get(place) or self.decode(draft.items[place])
        except BadRecord as e:
            draft.bad.append((place, e))
            return None

    def check_image(self, draft: Draft, place: int, shape: tuple[int, ...]) -> None:
        """Raise a NetError unless an image of ``shape`` fits its place."""
        try:
            self.transformer.check(shape, draft.out.shape[1:])
        except NetError as e:
            raise NetError(f"{self.describe(draft.items[place])}: {e}") from e

    def transform(self, draft: Draft, images: dict[int, Array]) -> None:
        """Put some images, by their places in order, transformed into the batch."""
        places = list(images)
        if places and places[-1] - places[0] == len(places) - 1:
            part = slice(places[0], places[-1] + 1)
            self.transformer.apply(list(images.values()), draft.draws[part], draft.out[part])
        else:
            for i, image in images.items():
                self.transformer.apply([image], draft.draws[i : i + 1], draft.out[i : i + 1])

    def complete(self, draft: Draft, batch: Batch) -> None:
        """Every place of the batch is filled."""

    def _replace_bad(self, draft: Draft, batch: Batch) -> list[int]:
        """Take other records for the places of bad ones."""
        bad = sorted(draft.bad, key=lambda entry: entry[0])
        draft.bad.clear()
        for place, error in bad:
            draft.items[place] = self._instead(place, error, batch)
        return [place for place, _ in bad]

    def _instead(self, place: int, error: BadRecord, batch: Batch) -> Array:
        if self.context.data.bad_records == "stop":
            raise error
        batch.skipped.append(str(error))
        if len(batch.skipped) > MOST_BAD:
            raise NetError(f"{MOST_BAD} bad records were skipped for one batch; the last: {error}")
        return self.take(place)

    # -- where it stands ---------------------------------------------------------------------

    def get_state(self) -> Facts:
        """Behind the last batch that was used, however many were made ahead."""
        return {} if self.context.dry else self._used

    def set_state(self, state: Facts) -> None:
        self._notice_fork()
        if self.prefetcher:
            self.prefetcher.close()
        if state.get("rank", self.context.rank) != self.context.rank:
            # Another rank's: it tells how far all have come, but the random numbers are its own.
            state = {k: v for k, v in state.items() if not isinstance(v, np.ndarray)}
        self._used = state
        with naming(self):
            self._go_back()
        self._used = self._state()

    def _state(self) -> Facts:
        state = {"rank": self.context.rank, **self.position()}
        if self.transformer.rng:
            state["transformer"] = draws.state_of(self.transformer.rng)
        return state

    def _go_back(self) -> None:
        """To behind the batch that was used last; without a thread."""
        self.prefetcher = None
        self.go_to(self._used)
        if self.transformer.rng and "transformer" in self._used:
            self.transformer.rng = draws.from_state(self._used["transformer"])
        self._restarts = self.restarts()

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@contextmanager
def naming(layer: Layer) -> Iterator[None]:
    """Add the layer's name to errors of the files and settings it works with."""
    try:
        yield
    except (FileError, NetError) as e:
        raise layer.error(str(e)) from e
