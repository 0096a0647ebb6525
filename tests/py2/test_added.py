"""Names put back into packages that need not be here: stand-ins have what those have today."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.py2.added import ADDED, caffe_2014, charts
from pycaffe_dist.py2.added.words import old_words
from pycaffe_dist.py2.strings import ByteStr
from pycaffe_dist.pycaffe.io import Transformer


def told(*args, **kwargs):
    return args, kwargs


def test_old_words_are_renamed_or_left_out():
    function = old_words(told, old="new", gone=None)
    assert function(1, old=2, gone=3, other=4) == ((1,), {"new": 2, "other": 4})
    assert function(old=2, new=None)[1] == {"new": 2}
    assert function(old=2, new=5)[1] == {"new": 5}


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
    sharp = {"anti_aliasing": False, "mode": "constant"}
    assert transform.rescale(1, multichannel=True)[1] == {"channel_axis": -1, **sharp}
    assert transform.rescale(1, multichannel=False)[1] == sharp


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
    assert axes.get_axis_bgcolor() == (1, 0, 0, 1)
    axes.set_color_cycle(["red", "blue"])
    assert [axes.plot([0, 1])[0].get_color() for _ in range(3)] == ["red", "blue", "red"]
    axes.set_yscale("symlog", basey=2, linthreshy=0.5)
    axes.semilogx([1, 2], [3, 4], basex=2)
    assert (axes.yaxis.get_transform().linthresh, axes.xaxis.get_transform().base) == (0.5, 2)
    pyplot.close("all")


def test_scikit_learn_has_a_randomized_pca():
    decomposition = SimpleNamespace(PCA=told)
    made = ADDED["sklearn.decomposition"](decomposition)["RandomizedPCA"](3, whiten=True)
    assert made == ((3,), {"svd_solver": "randomized", "whiten": True})


def test_neighbours_are_counted_by_floats():
    class Neighbors:
        def __init__(self, *, n_neighbors, algorithm="auto"):
            self.made = n_neighbors, algorithm

    names = ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors")
    module = SimpleNamespace(**{name: type(name, (Neighbors,), {}) for name in names})
    ADDED["sklearn.neighbors"](module)
    assert module.NearestNeighbors(10.0, algorithm="brute").made == (10, "brute")
    assert module.KNeighborsClassifier().made == (5, "auto")


def test_scikit_image_has_names_and_words_of_2015():
    transform = SimpleNamespace(rescale=told, resize=told, pyramid_reduce=told)
    ADDED["skimage.transform"](transform)
    sharp = {"anti_aliasing": False, "mode": "constant"}
    assert transform.rescale(np.zeros((4, 4, 3)), 0.5)[1] == {"channel_axis": -1, **sharp}
    assert transform.rescale(np.zeros((4, 4)), 0.5)[1] == sharp
    assert transform.resize("image", (2, 2), 1, "edge", anti_aliasing=True) == (
        ("image", (2, 2), 1, "edge"),
        {"anti_aliasing": True},
    )
    assert transform.pyramid_reduce(np.zeros((4, 4, 3)), 2)[1] == {"channel_axis": -1}
    filters = SimpleNamespace(threshold_local=lambda image, size: np.full(image.shape, size))
    mask = ADDED["skimage.filters"](filters)["threshold_adaptive"](np.array([1, 5]), 3)
    assert mask.tolist() == [False, True]
    measure = SimpleNamespace(label=told)
    ADDED["skimage.measure"](measure)
    assert measure.label("image", neighbors=8) == (("image",), {"connectivity": 2})
    assert measure.label("image", connectivity=1)[1] == {"connectivity": 1}
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


def test_pylab_has_numpys_names_as_they_were():
    pylab = SimpleNamespace(np=np, zeros=np.zeros, sin=np.sin, array="mine")
    assert ADDED["pylab"](pylab)["find"]([[0, 1], [1, 0]]).tolist() == [1, 2]
    assert pylab.zeros(2.0).tolist() == [0, 0] and pylab.np.float is float
    assert (pylab.sin, pylab.array) == (np.sin, "mine")


def test_matplotlib_has_maps_by_name_and_draws_where_it_can(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import cm

    get_cmap = ADDED["matplotlib.cm"](cm)["get_cmap"]
    assert get_cmap("jet", 5).N == 5 and get_cmap(get_cmap("jet")).name == "jet"
    assert get_cmap().name == matplotlib.rcParams["image.cmap"]

    def use(backend):
        if backend not in ("Agg", "TkAgg"):
            raise ValueError(backend)
        used.append(backend)

    used = []
    for headless in (True, False):
        monkeypatch.setattr(charts, "headless", lambda headless=headless: headless)
        module = SimpleNamespace(use=use)
        ADDED["matplotlib"](module)
        module.use("TkAgg")
        module.use("Qt4Agg")
    assert used == ["Agg", "Agg", "TkAgg"]
    with pytest.raises(ValueError, match="Nothing"):
        module.use("Nothing")


class OldNet:
    """What a net of 2014 has of preparation."""

    inputs = ("data",)

    def __init__(self, *args, **kwargs):
        self.transformer = Transformer({"data": (1, 2, 1, 1)})
        if "input_scale" in kwargs:
            self.transformer.set_input_scale("data", kwargs["input_scale"])


@pytest.fixture
def net_of_2014(monkeypatch, tmp_path):
    np.save(tmp_path / "mean.npy", np.array([[[10.0]], [[20.0]]]))
    names = ("set_phase_test", "set_phase_train", "set_mode_cpu", "set_mode_gpu", "set_device")
    module = SimpleNamespace(**dict.fromkeys(names), TEST=1, TRAIN=0, init_log=None)
    module.Net = module.Classifier = module.Detector = type("Net", (OldNet,), {})
    module.io = SimpleNamespace(Transformer=Transformer, load_image=told)
    module.get_solver, module._caffe = told, SimpleNamespace(Solver=type("Solver", (), {}))
    monkeypatch.setattr(caffe_2014, "SETTINGS", SimpleNamespace(phase=1))
    ADDED["pycaffe_dist"](module)
    module.Net.caffe = module
    return module.Net


def test_names_of_files_may_be_encoded(net_of_2014):
    name = ByteStr(b"a/b.png")
    args, words = net_of_2014.caffe.io.load_image(name, color=name)
    assert (type(args[0]), args, words) == (str, ("a/b.png",), {"color": "a/b.png"})


def prepared(net):
    return net.preprocess("data", np.array([[[0.1, 0.2]]])).ravel().tolist()


@pytest.mark.parametrize("mean_first", [True, False])
def test_a_mean_from_a_file_is_of_scaled_values(net_of_2014, tmp_path, mean_first):
    net = net_of_2014()
    calls = [
        lambda: net.set_mean("data", str(tmp_path / "mean.npy")),
        lambda: net.set_input_scale("data", 100),
    ]
    for call in calls if mean_first else reversed(calls):
        call()
    net.transformer.set_transpose("data", (2, 0, 1))
    assert prepared(net) == pytest.approx([0, 0], abs=1e-4)


def test_a_mean_that_is_an_array_is_subtracted_first(net_of_2014, tmp_path):
    net = net_of_2014(input_scale=10, mean_file="")
    net.set_mean("data", np.array([[[0.1]], [[0.1]]]), mode="channel")
    net.transformer.set_transpose("data", (2, 0, 1))
    assert prepared(net) == pytest.approx([0, 1], abs=1e-4)
    with_file = net_of_2014(mean_file=str(tmp_path / "mean.npy"), input_scale=100)
    with_file.transformer.set_transpose("data", (2, 0, 1))
    assert prepared(with_file) == pytest.approx([0, 0], abs=1e-4)


def test_folders_are_listed_as_text(tmp_path):
    import glob
    import os

    (tmp_path / "a.png").touch()
    module = SimpleNamespace(listdir=os.listdir, walk=os.walk, getcwd=os.getcwd)
    ADDED["os"](module)
    folder = ByteStr(bytes(tmp_path))
    assert module.listdir(folder) == ["a.png"] and next(iter(module.walk(folder)))[2] == ["a.png"]
    found = SimpleNamespace(glob=glob.glob)
    ADDED["glob"](found)
    assert found.glob(ByteStr(bytes(tmp_path / "*.png"))) == [str(tmp_path / "a.png")]


def test_strings_in_hdf5_are_text(tmp_path):
    import h5py

    class Dataset(h5py.Dataset):
        pass

    ADDED["h5py"](SimpleNamespace(Dataset=Dataset))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["names"], file["one"] = ["a", "bb"], "c"
        file["numbers"] = [1, 2]
        names, one, numbers = (Dataset(file[name].id) for name in ("names", "one", "numbers"))
        assert names[1] + "x" == "bbx" and [n + "x" for n in names[:]] == ["ax", "bbx"]
        assert one[()] == "c" and numbers[:].tolist() == [1, 2]
