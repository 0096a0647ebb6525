"""VideoData, three times: C3D's clips, yjxiong's segments, and SSD's cameras, which are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.data.image import Color, Pixels, read_image
from pycaffe_dist.data.scaling import resize_by
from pycaffe_dist.data.transformer import Draws, SeededTransformer, Transformer, crop_of
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.base_data import BadRecord, Draft, Label
from pycaffe_dist.layers.image_data import ImageData
from pycaffe_dist.proto.caffe_pb2 import (
    TRAIN,
    ImageDataParameter,
    LayerParameter,
    ResizeParameter,
    VideoDataParameter,
)


class Clip(NamedTuple):
    """A line of the list: a folder of frames, a number of a frame or of frames, and the label."""

    folder: str
    number: int
    label: int


class Clips(ImageData):
    """Folders of frames in the place of images.

    A clip's frames stand behind one another as channels; where it begins may be drawn anew each
    time it is read.
    """

    def frames(self, clip: Clip, rng: np.random.Generator | None) -> list[Pixels]:
        """What a net sees of a clip, (height, width, channels) each; without ``rng`` in TEST's way.

        Raises:
            FileError: a frame cannot be read.
        """
        raise NotImplementedError

    def stacked(self, frames: list[Pixels]) -> Array:
        """Frames as one image (channels, height, width)."""
        return np.concatenate([frame.transpose(2, 0, 1) for frame in frames])

    def setup(self, bottom: Views, top: Views) -> None:
        own, p = self.layer_param.video_data_param, self.layer_param.image_data_param
        if self.layer_param.HasField("video_data_param"):
            names = ("source", "batch_size", "shuffle", "new_height", "new_width", "root_folder")
            for name in (*names, "rand_skip", "is_color"):
                setattr(p, name, getattr(own, name))
        super().setup(bottom, top)

    def make_transformer(self) -> Transformer:
        transformer = SeededTransformer(self.layer_param.transform_param, self.phase)
        transformer.random = self.phase == TRAIN
        return transformer

    def label_shape(self, size: int, image: tuple[int, ...]) -> tuple[int, ...]:
        return (size, 1, 1, 1)

    def read_list(self, path: str) -> Sequence[Clip]:
        text = read_bytes(path).decode(errors="surrogateescape")
        clips = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words:
                continue
            if len(words) != 3 or not all(word.lstrip("-").isdecimal() for word in words[1:]):
                raise FileError(
                    f"{path}:{number}: found {line!r}; a line is a folder of frames, a number and "
                    "a label. Video files are not read: take their frames out first."
                )
            clips.append(Clip(words[0], int(words[1]), int(words[2])))
        if not clips:
            raise FileError(f"{path}: lists no videos")
        return clips

    def decode(self, item: Clip) -> tuple[Array, Label]:
        return self._read_clip(item, None), item.label

    def begin_shape(self, image: Array, label: Label, draws: Draws) -> tuple[int, ...]:
        return self.shape_of(image.shape)

    def fill(self, draft: Draft, places: range) -> None:
        out = draft.out.reshape(len(draft.out), -1, *draft.out.shape[-2:])
        for i in places:
            rng = np.random.default_rng(int(draft.draws[i, 0])) if self.phase == TRAIN else None
            try:
                image = self._read_clip(draft.items[i], rng)
            except BadRecord as e:
                draft.bad.append((i, e))
                continue
            try:
                self.transformer.check(image.shape, out.shape[1:])
            except NetError as e:
                raise NetError(f"{self.describe(draft.items[i])}: {e}") from e
            self.put(image, draft.draws[i : i + 1, 1:], out[i : i + 1])
            draft.labels.reshape(len(out))[i] = draft.items[i].label

    def put(self, image: Array, draws: Draws, out: Array) -> None:
        """One image, cropped, mirrored, shifted and scaled."""
        self.transformer.apply([image], draws, out)

    def _read_clip(self, clip: Clip, rng: np.random.Generator | None) -> Array:
        try:
            return self.stacked(self.frames(clip, rng))
        except FileError as e:
            raise BadRecord(str(e)) from e

    def _first_image(self) -> Array:
        return self.decode(self.lines[self._line()])[0]

    def read_frame(self, clip: Clip, name: str, color: Color) -> Pixels:
        p = self.layer_param.image_data_param
        path = f"{p.root_folder}{clip.folder}/{name}"
        return read_image(path, p.new_height, p.new_width, color)


@register("VideoData", dialect="c3d")
class VideoData(Clips):
    """C3D's: clips (N, 3, L, H, W) of frames ``%06d.jpg`` in a folder, and labels (N, 1, 1, 1).

    A line is a folder, the number of the first frame and a label; L is ``new_length``, frames are
    ``sampling_rate`` apart.  All frames of a clip are cropped and mirrored alike.
    """

    fork_fields = (
        *Clips.fork_fields,
        "ImageDataParameter.new_length",
        "ImageDataParameter.sampling_rate",
        "ImageDataParameter.use_image",
    )

    def _own(self) -> VideoDataParameter | ImageDataParameter:
        if self.layer_param.HasField("video_data_param"):
            return self.layer_param.video_data_param
        return self.layer_param.image_data_param  # C3D 1.0 has its settings there

    def frames(self, clip: Clip, rng: np.random.Generator | None) -> list[Pixels]:
        own = self._own()
        color = Color.COLOR if self.layer_param.image_data_param.is_color else Color.GRAY
        last = clip.number + own.new_length * own.sampling_rate
        numbers = range(clip.number, last, own.sampling_rate)
        return [self.read_frame(clip, f"{number:06d}.jpg", color) for number in numbers]

    def stacked(self, frames: list[Pixels]) -> Array:
        """Channel by channel: (channels · length, height, width)."""
        clip = np.stack(frames).transpose(3, 0, 1, 2)
        return clip.reshape(-1, *clip.shape[2:])

    def make_transformer(self) -> Transformer:
        transformer = super().make_transformer()
        if transformer.mean is not None and transformer.means is None and len(transformer.mean) > 1:
            transformer.mean = np.repeat(transformer.mean, self._length(), axis=0)
        return transformer

    def shape_of(self, image: tuple[int, ...]) -> tuple[int, ...]:
        frames, height, width = super().shape_of(image)
        return (frames // self._length(), self._length(), height, width)

    def guess_shape(self) -> tuple[int, ...]:
        channels, height, width = super().guess_shape()[-3:]
        return (channels, self._length(), height, width)

    def _length(self) -> int:
        return max(1, int(self._own().new_length))


def _segmented(param: LayerParameter) -> bool:
    given = ("num_segments", "modality", "name_pattern")
    return any(param.video_data_param.HasField(name) for name in given)


@register(
    "VideoData",
    dialect="mpi",
    when=_segmented,
    why="video_data_param has num_segments, modality or name_pattern",
)
class SegmentedVideoData(Clips):
    """yjxiong's: ``new_length`` frames of each of ``num_segments`` equal parts of a video.

    (N, segments · length · channels, H, W): RGB frames have three channels, FLOW the images x and
    y.  A line is a folder, how many frames it has, and a label.  In training each part's frames
    begin at a random place of it, else in its middle; in a part too short at the video's beginning.

    Of transform_param also: ``multi_scale`` cuts out a part whose sides are drawn from
    ``scale_ratios`` of the shorter one, at most ``max_distort`` places apart in that list, and
    scales it to ``crop_size``; ``fix_crop`` puts it into a corner or the middle, ``more_fix_crop``
    at eight more places.  ``is_flow`` turns the x images round where an image is mirrored.
    """

    fork_fields = (
        *Clips.fork_fields,
        "TransformationParameter.multi_scale",
        "TransformationParameter.scale_ratios",
        "TransformationParameter.max_distort",
        "TransformationParameter.fix_crop",
        "TransformationParameter.more_fix_crop",
        "TransformationParameter.is_flow",
    )

    def frames(self, clip: Clip, rng: np.random.Generator | None) -> list[Pixels]:
        p = self.layer_param.video_data_param
        flow = p.modality == p.FLOW
        pattern = p.name_pattern or ("flow_%c_%04d.jpg" if flow else "image_%04d.jpg")
        part = clip.number // p.num_segments
        room, found = part - p.new_length, []
        for segment in range(p.num_segments):
            begin = 0
            if room >= 0:
                offset = int(rng.integers(room + 1)) if rng is not None else (room + 1) // 2
                begin = segment * part + offset
            for number in range(begin + 1, begin + 1 + p.new_length):
                if flow:
                    names = [pattern % (axis, number) for axis in "xy"]
                    found += [self.read_frame(clip, name, Color.GRAY) for name in names]
                else:
                    color = Color.GRAY if p.grayscale else Color.COLOR
                    found.append(self.read_frame(clip, pattern % number, color))
        return found

    def guess_shape(self) -> tuple[int, ...]:
        p = self.layer_param.video_data_param
        channels = 2 if p.modality == p.FLOW else 1 if p.grayscale else 3
        _, height, width = super().guess_shape()
        return p.num_segments * p.new_length * channels, height, width

    def make_transformer(self) -> Transformer:
        p = self.layer_param.transform_param
        if p.multi_scale and not p.crop_size:
            raise NetError("multi_scale needs a crop_size, to which parts are scaled")
        transformer = super().make_transformer()
        mean = transformer.mean
        if mean is not None and transformer.means is None and len(mean) in (2, 3):
            own = self.layer_param.video_data_param
            transformer.mean = np.tile(mean, (own.num_segments * own.new_length, 1, 1))
        return transformer

    def put(self, image: Array, draws: Draws, out: Array) -> None:
        p = self.layer_param.transform_param
        mirrored = bool(p.mirror and draws[0, 0] % 2)
        if p.multi_scale and self.phase == TRAIN:
            image = self._cut(image, np.random.default_rng(draws[0].tolist()))
        if mirrored and p.is_flow:
            image = image.copy()
            image[::2] = 255 - image[::2]
        super().put(image, draws, out)

    def _cut(self, image: Array, rng: np.random.Generator) -> Array:
        """A random part of the image, at the size of the crop."""
        p = self.layer_param.transform_param
        crop = crop_of(p)
        assert crop is not None
        sides = part_sizes(image.shape[1:], crop, list(p.scale_ratios), p.max_distort)
        size = np.array(sides[rng.integers(len(sides))])
        room = np.array(image.shape[1:]) - size
        if p.fix_crop:
            places = quarter_places(p.more_fix_crop)
            top, left = room * places[rng.integers(len(places))] // 4
        else:
            top, left = rng.integers(room + 1)
        part = image[:, top : top + size[0], left : left + size[1]]
        return resize_by(part.transpose(1, 2, 0), *crop, ResizeParameter.LINEAR).transpose(2, 0, 1)


def part_sizes(
    image: tuple[int, ...], crop: tuple[int, int], ratios: Sequence[float], most: int
) -> list[tuple[int, int]]:
    """Heights and widths of parts: ratios of the shorter side, at most ``most`` places apart.

    A side within 3 pixels of the crop's is the crop's.
    """
    base = min(image)
    sides = [int(base * ratio) for ratio in ratios or [1, 0.875, 0.75, 0.66]]
    heights, widths = ([c if abs(side - c) < 3 else side for side in sides] for c in crop)
    return [
        (height, width)
        for i, height in enumerate(heights)
        for j, width in enumerate(widths)
        if abs(i - j) <= most
    ]


def quarter_places(more: bool) -> Array:
    """Where parts begin, in quarters of the room there is: corners, middle and, if wanted, more."""
    places = [(0, 0), (0, 4), (4, 0), (4, 4), (2, 2)]
    if more:
        places += [(0, 2), (4, 2), (2, 0), (2, 4), (1, 1), (1, 3), (3, 1), (3, 3)]
    return np.array(places)


@register(
    "VideoData",
    dialect="ssd",
    when=lambda param: any(
        param.video_data_param.HasField(name) for name in ("video_type", "video_file", "device_id")
    ),
    why="video_data_param has video_type, video_file or device_id",
)
class CameraData(Layer):
    """SSD's, which shows what a camera or a video file has: neither is read here."""

    bottoms = 0
    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        raise self.error(
            "cameras and video files are not read; take the frames out (ffmpeg -i video frame_"
            "%06d.png) and give them to an ImageData layer, or to an Input by a script"
        )
