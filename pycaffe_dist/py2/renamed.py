"""Modules that Python 2 knew by another name, and modules that are gone."""

from __future__ import annotations

import html
import importlib
import importlib.util
import subprocess
from collections.abc import Callable
from functools import partial

from pycaffe_dist.py2 import files
from pycaffe_dist.py2.builtins import NAMES
from pycaffe_dist.py2.compiled import COMPILED
from pycaffe_dist.py2.values import Names, Value

HERE = "pycaffe_dist.py2"

RENAMED = {
    "BaseHTTPServer": "http.server",
    "ConfigParser": "configparser",
    "Cookie": "http.cookies",
    "HTMLParser": "html.parser",
    "Image": "PIL.Image",
    "ImageDraw": "PIL.ImageDraw",
    "ImageFont": "PIL.ImageFont",
    "Queue": "queue",
    "SimpleHTTPServer": "http.server",
    "SimpleXMLRPCServer": "xmlrpc.server",
    "SocketServer": "socketserver",
    "Tkinter": "tkinter",
    "anydbm": "dbm",
    "cPickle": f"{HERE}.shadows.pickle",
    "caffe_pb2": "pycaffe_dist.proto.caffe_pb2",
    "cookielib": "http.cookiejar",
    "copy_reg": "copyreg",
    "dummy_thread": "_thread",
    "dummy_threading": "threading",
    "exceptions": "builtins",
    "htmlentitydefs": "html.entities",
    "httplib": "http.client",
    "repr": "reprlib",
    "robotparser": "urllib.robotparser",
    "scipy.misc": f"{HERE}.scipy_misc",
    **{
        f"scipy.ndimage.{name}": "scipy.ndimage"
        for name in ("filters", "fourier", "interpolation", "measurements", "morphology")
    },
    "skimage.filter": "skimage.filters",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.externals.joblib": "joblib",
    "sklearn.grid_search": "sklearn.model_selection",
    "thread": "_thread",
    "tkFileDialog": "tkinter.filedialog",
    "tkMessageBox": "tkinter.messagebox",
    "urlparse": "urllib.parse",
    "xmlrpclib": "xmlrpc.client",
}
# These are there today, too, but have lost what they were used for.
INSTEAD = ("scipy.misc",)


def _urllib2() -> Names:
    import urllib.error
    import urllib.request

    return {**vars(urllib.request), **vars(urllib.error)}


def _commands() -> Names:
    return {"getoutput": subprocess.getoutput, "getstatusoutput": subprocess.getstatusoutput}


def _cgi() -> Names:
    return {"escape": lambda text, quote=False: html.escape(text, quote)}


def _cv() -> Names:
    """``cv2.cv``, which is an attribute of the module by now."""
    return {"__getattr__": importlib.import_module("cv2").cv.__getattr__}


def _montage() -> Names:
    def montage2d(
        arr_in: Value,
        fill: Value = "mean",
        rescale_intensity: bool = False,
        grid_shape: Value = None,
        padding_width: int = 0,
    ) -> Value:
        montage = importlib.import_module("skimage.util").montage
        return montage(arr_in, fill, rescale_intensity, grid_shape, padding_width)

    return {"montage2d": montage2d}


def _hash(name: str) -> Callable[[], Names]:
    def names() -> Names:
        from pycaffe_dist.py2.shadows import hashlib

        return {"new": getattr(hashlib, name), name: getattr(hashlib, name)}

    return names


# Modules that are put together when they are imported.
MADE: dict[str, Callable[[], Names]] = {
    "StringIO": lambda: {"StringIO": files.StringIO},
    "cStringIO": lambda: {"StringIO": files.StringIO, "InputType": files.StringIO},
    "__builtin__": lambda: {**vars(importlib.import_module("builtins")), **NAMES},
    "cgi": _cgi,
    "commands": _commands,
    **{name: partial(dict, names) for name, names in COMPILED.items()},
    "cv2.cv": _cv,
    "md5": _hash("md5"),
    "sets": lambda: {"Set": set, "ImmutableSet": frozenset},
    "sha": _hash("sha1"),
    "skimage.util.montage": _montage,
    "urllib2": _urllib2,
}
