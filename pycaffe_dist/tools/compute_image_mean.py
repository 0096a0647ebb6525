"""The mean image of a database, as Caffe's compute_image_mean computes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.data.database import kind_of, records_of, size_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.lmdb_writer import Record
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.ordered_map import ordered_map, usable_cores

LOG_EVERY = 10000


@dataclass
class ImageMean:
    """The mean of ``count`` images, (channels, height, width), and of each channel."""

    image: NDArray[np.float32]
    channels: list[float]
    count: int


def compute_image_mean(
    database: str, output: str | None = None, backend: str | None = None, threads: int | None = None
) -> ImageMean:
    """Compute the mean, write it as a .binaryproto if asked for, log Caffe's lines.

    Raises:
        FileError: the database cannot be read or is empty, an image is damaged or has another
            shape than the first, or the file cannot be written.
    """
    kind = kind_of(database, backend)
    sum_, count = np.zeros(0, np.float32), 0
    with Counter("images", size_of(database, kind)) as counter:
        for key, pixels in _images(database, kind, threads or usable_cores()):
            if not count:
                sum_ = np.zeros(pixels.shape, np.float32)
                counter.log("compute_image_mean.cpp:67", "Starting iteration")
            if pixels.shape != sum_.shape:
                raise FileError(
                    f"{database}: record {key_text(key)}: an image of the shape {pixels.shape}, "
                    f"the first has {sum_.shape}; a mean needs one size. Make the database with "
                    "-resize_height and -resize_width."
                )
            # float32, image by image: Caffe's rounding, also where sums grow large.
            sum_ += pixels
            count += 1
            counter.add()
            if count % LOG_EVERY == 0:
                counter.log("compute_image_mean.cpp:90", "Processed %d files.", count)
    if count % LOG_EVERY:
        log.info("compute_image_mean.cpp:96", "Processed %d files.", count)
    mean = ImageMean(sum_ / np.float32(count), [], count)
    if output is not None:
        log.info("compute_image_mean.cpp:103", "Write to %s", output)
        write_binaryproto(output, mean.image[None])
    log.info("compute_image_mean.cpp:109", "Number of channels: %d", len(mean.image))
    for c, plane in enumerate(mean.image):
        # One after the other, as Caffe adds them; NumPy's own sum is in another order.
        total = np.add.accumulate(plane.reshape(-1))[-1]
        mean.channels.append(float(total / np.float32(plane.size)))
        log.info("compute_image_mean.cpp:114", "mean_value channel [%d]: %g", c, mean.channels[c])
    return mean


def _images(database: str, kind: str, threads: int) -> Iterator[tuple[bytes, Array]]:
    def pixels(record: Record) -> tuple[bytes, Array]:
        key, value = record
        try:
            return key, datum_pixels(parse_datum(value))
        except ValueError as e:
            raise FileError(f"{database}: record {key_text(key)}: {e}") from e

    return ordered_map(pixels, records_of(database, kind), threads)
