"""Names put back into packages that need not be here: stand-ins have what those have today."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.py2.added import ADDED
from pycaffe_dist.py2.added.words import old_words


def told(*args, **kwargs):
    return args, kwargs


def test_old_words_are_renamed_or_left_out():
    function = old_words(told, old="new", gone=None)
    assert function(1, old=2, gone=3, other=4) == ((1,), {"new": 2, "other": 4})
    assert function(old=2, new=None)[1] == {"new": 2}
    assert function(old=2, new=5)[1] == {"new": 5}


@pytest.fixture
def cv2():
    module = SimpleNamespace(rectangle=told, resize=told, VideoWriter_fourcc=lambda *c: "".join(c))
    module.LINE_AA, module.COLOR_BGR2GRAY, module.CAP_PROP_FPS = 16, 6, 5
    module.IMREAD_UNCHANGED, module.IMREAD_GRAYSCALE, module.IMREAD_COLOR = -1, 0, 1
    vars(module).update(ADDED["cv2"](module))
    return module


def test_opencv_draws_at_floats(cv2):
    args, _ = cv2.rectangle("image", (1.7, np.float32(2)), (3, 4.2), (0, 0, 255.5), 2)
    assert args == ("image", (1, 2), (3, 4), (0, 0, 255.5), 2)
    assert cv2.resize("image", (3.0, 4.0), fx=0.5) == (("image", (3, 4)), {"fx": 0.5})


def test_opencv_has_its_names_of_before_2015(cv2):
    cv = cv2.cv
    assert (cv.CV_BGR2GRAY, cv.CV_CAP_PROP_FPS, cv.CV_AA, cv2.CV_AA) == (6, 5, 16, 16)
    assert (cv.CV_LOAD_IMAGE_COLOR, cv2.CV_LOAD_IMAGE_GRAYSCALE) == (1, 0)
    assert cv.CV_FOURCC(*"XVID") == "XVID"
    with pytest.raises(AttributeError, match="CV_NOTHING"):
        _ = cv.CV_NOTHING


def test_scikit_image_writes_floats_and_knows_channels():
    saved = {}
    io = SimpleNamespace(imread=told, imsave=lambda name, a: saved.update({name: a}))
    ADDED["skimage.io"](io)
    io.imsave("a.png", np.array([[-0.5, 0.5, 2.0]]))
    assert saved["a.png"].tolist() == [[0, 128, 255]] and saved["a.png"].dtype == np.uint8
    io.imsave("a.tif", np.array([0.25]))
    assert saved["a.tif"].tolist() == [0.25]
    assert io.imread("a", as_grey=True)[1] == {"as_gray": True}
    transform = SimpleNamespace(rescale=told)
    ADDED["skimage.transform"](transform)
    assert transform.rescale(1, multichannel=True)[1] == {"channel_axis": -1}
    assert transform.rescale(1, multichannel=False)[1] == {}


class Frame(dict):
    """What of a DataFrame is used."""

    @property
    def loc(self):
        return self

    @property
    def iloc(self):
        return list(self.values())

    def sort_values(self, by, ascending=True):
        return by, ascending


def test_pandas_reads_logs_and_has_its_old_methods():
    pandas = SimpleNamespace(
        read_csv=told, read_table=told, DataFrame=Frame, concat=lambda rows, ignore_index: rows
    )
    ADDED["pandas"](pandas)
    assert pandas.read_csv("a", delim_whitespace=True)[1] == {"sep": r"\s+"}
    assert pandas.read_csv("a", error_bad_lines=False)[1] == {"on_bad_lines": "skip"}
    assert pandas.read_csv("a", delim_whitespace=False, error_bad_lines=True)[1] == {}
    frame = Frame(a=1, b=2)
    assert (frame.ix["b"], frame.ix[0]) == (2, 1)
    assert frame.sort("a", ascending=False) == ("a", False)
    assert frame.append(frame) == [frame, frame]


def test_fonts_have_sizes_and_pictures_take_floats(monkeypatch):
    from PIL import Image, ImageFont

    monkeypatch.setattr(Image.Image, "resize", Image.Image.resize)
    monkeypatch.setattr(Image, "new", Image.new)
    for name, value in ADDED["PIL.Image"](Image).items():
        assert hasattr(Image, name) or value is not None
    assert Image.new("RGB", (8.0, 6.0)).resize((4.0, 3.9)).size == (4, 3)
    ADDED["PIL.ImageFont"](ImageFont)
    width, height = ImageFont.load_default().getsize("abc")
    assert width > height > 0


def test_pandas_has_its_old_names():
    class Series:
        def sort_values(self, **kwargs):
            return kwargs

        def rolling(self, window):
            return SimpleNamespace(mean=lambda: window)

    class Table(Frame):
        to_csv = to_hdf = lambda self, *args, **kwargs: (args, kwargs)
        iloc = at = np.array([[1, 2], [3, 4]])

    old = ADDED["pandas"](SimpleNamespace(DataFrame=Table, Series=Series))
    frame = Table(a=1)
    assert frame.to_csv("a.csv", cols=["x"]) == (("a.csv",), {"columns": ["x"]})
    assert frame.to_hdf("a.h5", "df", mode="w") == (("a.h5",), {"key": "df", "mode": "w"})
    assert (frame.irow(1).tolist(), frame.icol(1).tolist()) == ([3, 4], [2, 4])
    assert frame.get_value(1, 0) == 3
    assert Series().order(ascending=False) == {"ascending": False}
    assert old["rolling_mean"](Series(), 10) == 10


def test_axes_take_a_cycle_of_colours():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    import matplotlib.axes

    ADDED["matplotlib.axes"](matplotlib.axes)
    axes = pyplot.figure().add_subplot()
    axes.set_axis_bgcolor((1, 0, 0))
    assert axes.get_facecolor() == (1, 0, 0, 1)
    axes.set_color_cycle(["red", "blue"])
    assert [axes.plot([0, 1])[0].get_color() for _ in range(3)] == ["red", "blue", "red"]
    pyplot.close("all")


def test_scikit_learn_has_a_randomized_pca():
    decomposition = SimpleNamespace(PCA=told)
    made = ADDED["sklearn.decomposition"](decomposition)["RandomizedPCA"](3, whiten=True)
    assert made == ((3,), {"svd_solver": "randomized", "whiten": True})


def test_scikit_image_has_names_and_words_of_2015():
    transform = SimpleNamespace(rescale=lambda image, scale, **words: words)
    ADDED["skimage.transform"](transform)
    assert transform.rescale(np.zeros((4, 4, 3)), 0.5) == {"channel_axis": -1}
    assert transform.rescale(np.zeros((4, 4)), 0.5) == {}
    draw = SimpleNamespace(disk=told)
    assert ADDED["skimage.draw"](draw)["circle"](1, 2, 3) == (((1, 2), 3), {"shape": None})
    feature = SimpleNamespace(peak_local_max=lambda image: np.argwhere(image), hog=told)
    ADDED["skimage.feature"](feature)
    assert feature.peak_local_max(np.eye(2)).tolist() == [[0, 0], [1, 1]]
    assert feature.peak_local_max(np.eye(2), indices=False).tolist() == [
        [True, False],
        [False, True],
    ]
    assert feature.hog(1, visualise=True)[1] == {"visualize": True}
    assert ADDED["skimage.util"](None)["pad"]([1], 1, "constant").tolist() == [0, 1, 0]


def test_a_legend_takes_its_place_behind_the_labels():
    pyplot = SimpleNamespace(legend=told)
    ADDED["matplotlib.pyplot"](pyplot)
    assert pyplot.legend(["a", "b"], "best") == ((["a", "b"],), {"loc": "best"})
    assert pyplot.legend(["line"], ["a"]) == ((["line"], ["a"]), {})
    assert pyplot.legend(loc=1) == ((), {"loc": 1})
    found = ADDED["pylab"](None)["find"]([[0, 1], [1, 0]])
    assert found.tolist() == [1, 2]
    assert ADDED["matplotlib.mlab"](None)["normpdf"](0.0, 0.0, 1.0) == pytest.approx(0.39894228)


def test_queues_need_no_context():
    class Queue:
        def __init__(self, size=0, *, ctx):
            self.size, self.ctx = size, ctx

    module = SimpleNamespace(Queue=Queue, JoinableQueue=Queue, SimpleQueue=Queue)
    ADDED["multiprocessing.queues"](module)
    assert module.Queue(3).size == 3 and module.Queue().ctx is not None
    assert Queue(ctx="mine").ctx == "mine"


def test_scipy_brings_its_misc_along():
    names = ADDED["scipy"](SimpleNamespace())
    assert names["misc"].imresize(np.zeros((4, 6), np.uint8), 0.5).shape == (2, 3)
