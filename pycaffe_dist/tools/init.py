"""What ``pcd init`` does: a small project with a net, a solver and what makes its data."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from pycaffe_dist.tools import shipped
from pycaffe_dist.tools.models import readme, write_new

ALIASES = {"finetune": "finetune_digits"}
CODE = re.compile(r"^```\n(.*?)^```", re.M | re.S)
MODEL = re.compile(r"\bmodels/([^/\s]+)/")
BRING = "# first bring the data: models/{}/readme.md says which"


def start(name: str, folder: str) -> list[str]:
    """Write the project of a model into a folder; the commands to type there.

    It is laid out as our own, ``models/NAME`` and ``data/SET``, so that the paths in its files and
    every command of the documentation hold in it.

    Raises:
        PcdError: there is no such model.
        FileError: a file is in the way.
    """
    name = ALIASES.get(name, name)
    shipped.model(name)
    commands, top = steps(name), Path(folder)
    models = dict.fromkeys([name, *MODEL.findall("\n".join(commands))])
    contents = {
        top / path.relative_to(shipped.root()): path.read_bytes()
        for part in (*map(shipped.model, models), *shipped.data_sets(name))
        for path in shipped.files(part)
    }
    for each in models:
        contents[top / "models" / each / "readme.md"] = readme(each).encode()
    contents[top / "README.md"] = _page(name, commands).encode()
    write_new(contents)
    return commands


def steps(name: str) -> list[str]:
    """The commands of a model's readme up to its training, and how to see what came of it."""
    found: list[str] = []
    for line in "".join(CODE.findall(readme(name))).splitlines():
        command = line.partition("#")[0].strip()
        if command.startswith(f"pcd train -solver models/{name}/"):
            made = found or [BRING.format(name)]
            return [*made, f"{command} --run-dir runs/{name}", "pcd board runs"]
        if command and not command.startswith("pcd check"):
            found.append(command)
    return [f"pcd check {shlex.quote(f'models/{name}/deploy.prototxt')}"]


def _page(name: str, commands: list[str]) -> str:
    title = readme(name).partition("\n")[0].lstrip("# ")
    lines = "\n".join(commands)
    return (
        f"# {title}\n\nMade by `pcd init --from {name}`. Next:\n\n```\n{lines}\n```\n\n"
        f"What the net is and where its data come from: [models/{name}](models/{name}/readme.md).\n"
    )
