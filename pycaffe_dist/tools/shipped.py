"""What the package carries besides its modules: models, scripts that make data, the schema."""

from __future__ import annotations

import re
from pathlib import Path

import pycaffe_dist
from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto.suggest import did_you_mean


def root() -> Path:
    """The folder with ``models``, ``data`` and ``proto``: ``share`` in a wheel, or the clone."""
    package = Path(pycaffe_dist.__file__).parent
    share = package / "share"
    return share if share.is_dir() else package.parent


def model_names() -> list[str]:
    return sorted(path.parent.name for path in root().glob("models/*/deploy.prototxt"))


def model(name: str) -> Path:
    """The folder of a model.

    Raises:
        PcdError: there is none of this name.
    """
    names = model_names()
    if name not in names:
        hint = did_you_mean(name, names) or "; `pcd models` lists them"
        raise PcdError(f"there is no model {name!r}{hint}")
    return root() / "models" / name


def files(folder: Path) -> list[Path]:
    """The text and data files of a model or a data set, not what was made of them."""
    kinds = (".prototxt", ".md", ".py", ".npz")
    return sorted(path for path in folder.iterdir() if path.suffix in kinds)


def data_sets(name: str) -> list[Path]:
    """The folders of those data sets that a model's files speak of and that we can make."""
    text = "".join(p.read_text() for p in files(model(name)) if p.suffix != ".npz")
    found = dict.fromkeys(re.findall(r"\bdata/(\w+)/", text))
    return [path for set_ in found if (path := root() / "data" / set_).is_dir()]
