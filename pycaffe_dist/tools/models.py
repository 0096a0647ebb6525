"""What ``pcd models`` does: the models that the package carries, one by one or side by side."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.facts import totals
from pycaffe_dist.files import atomic_write, make_folder
from pycaffe_dist.report.table import amount, table
from pycaffe_dist.tools import shipped
from pycaffe_dist.tools.summary import Summary, summarize

ROW = re.compile(r"^\| (\w+) \| (.*) \|$", re.M)  # of the table in a readme
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # to a page that a copy does not have
WIDEST = 60  # letters of a published figure in the list


@dataclass
class Model:
    """A model in one row: of the deployed net, for one image."""

    name: str
    parameters: int
    flops: int
    input: str
    figure: str  # published, or measured by us

    @classmethod
    def read(cls, name: str) -> Model:
        summary = deployed(name)
        inputs = [f.top_shapes[0] for f in summary.layers if f.type == "Input"]
        sums, batch = totals(summary.layers), max(inputs[0][0] if inputs else 1, 1)
        told = dict(ROW.findall(readme(name)))
        ours = f"ours: {told['Measured']}" if "Measured" in told else ""
        shape = "x".join(map(str, inputs[0][1:])) if inputs else ""
        return cls(
            name, int(sums.params), int(sums.flops) // batch, shape, told.get("Published", ours)
        )


def deployed(name: str) -> Summary:
    return summarize(str(shipped.model(name) / "deploy.prototxt"), "TEST")


def readme(name: str) -> str:
    """A model's readme, without links to pages of the project."""
    return LINK.sub(r"\1", (shipped.model(name) / "readme.md").read_text())


def listed() -> list[Model]:
    return [Model.read(name) for name in shipped.model_names()]


def as_lines(models: list[Model]) -> list[str]:
    rows = [
        (m.name, m.input, f"{m.parameters:,}", amount(m.flops), _short(m.figure)) for m in models
    ]
    widest = max(len(row[4]) for row in rows)
    rows = [(*row[:4], row[4].ljust(widest)) for row in rows]
    return table(("model", "input", "parameters", "FLOPs", "published".ljust(widest)), rows, left=2)


def as_json(models: list[Model]) -> list[Facts]:
    return [asdict(m) for m in models]


def _short(figure: str) -> str:
    return figure if len(figure) <= WIDEST else figure[: WIDEST - 3].rsplit(" ", 1)[0] + " ..."


def copy(name: str, folder: str) -> list[str]:
    """Write a model's files into a folder, with their paths as seen from here; what was written.

    Raises:
        FileError: one of them is there already and has other contents.
    """
    place = Path(folder)
    seen = "" if folder in ("", ".") else place.as_posix().rstrip("/") + "/"
    texts = {
        place / path.name: path.read_text().replace(f"models/{name}/", seen)
        for path in shipped.files(shipped.model(name))
    }
    texts[place / "readme.md"] = readme(name).replace(f"models/{name}/", seen)
    write_new({path: text.encode() for path, text in texts.items()})
    return [str(path) for path in texts]


def write_new(contents: dict[Path, bytes]) -> None:
    """Write files, all or none: what is there and differs is never replaced.

    Raises:
        FileError: such a file is there.
    """
    for path, data in contents.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == data):
            raise FileError(f"{path}: is there already and differs; choose another folder")
    for path, data in contents.items():
        make_folder(path.parent)
        with atomic_write(path) as file:
            file.write(data)
