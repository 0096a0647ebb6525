"""The register of layer types: which class a prototxt's ``type`` names.

A module of layers is imported when a net first names a type that it registers.  Which module that
is, is read from the modules' texts: importing all of them takes longer than checking a net.
"""

from __future__ import annotations

import dis
import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto import forks
from pycaffe_dist.proto.aliases import in_bvlc_words
from pycaffe_dist.proto.bvlc import DIALECT
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.dialects import PRIVATE
from pycaffe_dist.proto.strange import origin, telling
from pycaffe_dist.proto.suggest import MOST_HINTS, did_you_mean
from pycaffe_dist.user_modules import in_one_line

if TYPE_CHECKING:
    from pycaffe_dist.layer import Context, Layer

LAYERS: dict[str, type[Layer]] = {}
READINGS: dict[str, list[Reading]] = {}  # of types that forks use for different layers
L = TypeVar("L", bound="type[Layer]")
ENTRY_POINTS = "pycaffe_dist.layers"  # the group in which packages name modules with layers
UNBUILT = "(unbuilt)"  # the type of a layer of which only the place in its net is known


class Reading(NamedTuple):
    """One of the layers of a type name, and what in a file tells that it is meant."""

    dialect: str
    cls: type[Layer]
    when: Callable[[LayerParameter], bool] | None  # None: when no other reading applies
    why: str  # what ``when`` found, for people: "norm_param is given"


def register(
    *types: str,
    dialect: str = "",
    when: Callable[[LayerParameter], bool] | None = None,
    why: str = "nothing says otherwise",
) -> Callable[[L], L]:
    """Make a class known by the ``type`` that prototxts write.

    Args:
        types: the names.
        dialect: the fork whose layer this is, where forks call different layers by this name.
        when: whether a file means this one; the class without it is taken if none applies.
        why: what ``when`` looks at, in words that fit after "because".
    """

    def add(cls: L) -> L:
        for name in types:
            if dialect:
                READINGS.setdefault(name, []).append(Reading(dialect, cls, when, why))
            if when is None:
                LAYERS[name] = cls
        cls.type = types[0]
        return cls

    return add


def reading(param: LayerParameter) -> Reading:
    """Which layer ``param`` means: the chosen dialect's, or the one that the file tells."""
    import_type(param.type)
    known = READINGS.get(param.type)
    if known is None:
        return _only(LAYERS[param.type])
    chosen = os.environ.get(DIALECT, "")
    of_chosen = [one for one in known if one.dialect == chosen]
    for one in sorted(of_chosen, key=lambda one: not (one.when and one.when(param))):
        return one._replace(why=f"the dialect is {chosen}")
    for one in known:
        if one.when is not None and one.when(param):
            return one
    return next((one for one in known if one.when is None), None) or _only(LAYERS[param.type])


def _only(cls: type[Layer]) -> Reading:
    """BVLC's layer, of whose type there is no other."""
    return Reading("bvlc", cls, None, "nothing says otherwise")


def readings(layers: Sequence[LayerParameter]) -> list[str]:
    """For each type with several meanings, how it is read and why: one line for each reading."""
    found: dict[tuple[str, str, str], int] = {}
    for param in layers:
        import_type(param.type)
        if len({one.cls for one in READINGS.get(param.type, ())} | {LAYERS.get(param.type)}) > 1:
            one = reading(param)
            if one.dialect != "bvlc":  # what a name of BVLC's means is no news
                key = (param.type, one.dialect, one.why)
                found[key] = found.get(key, 0) + 1
    return [
        f"{count} {type} read as that of {forks.FORKS[dialect]}: {why}"
        for (type, dialect, why), count in found.items()
    ]


# -- finding the modules ---------------------------------------------------------------------------

PACKAGE = "pycaffe_dist.layers"
_REGISTERS = re.compile(rb'\n@register\(\s*((?:"\w+",?\s*)+)')


def layer_types() -> dict[str, type[Layer]]:
    """Every known layer type by name; all modules of layers are imported."""
    for name in _modules():
        import_type(name)
    return dict(sorted(LAYERS.items()))


def is_known(name: str) -> bool:
    """Whether a class is registered for a type; the modules that may do so are imported."""
    import_type(name)
    return name in LAYERS


@cache
def import_type(name: str) -> None:
    """Import the modules that register a type: ours, and all those of installed packages."""
    _import_installed()
    for module in _modules().get(name, ()):
        importlib.import_module(module)


@cache
def _modules() -> dict[str, list[str]]:
    """The modules that register each of our types; forks may have one each."""
    found: dict[str, list[str]] = {}
    for root in importlib.import_module(PACKAGE).__path__:
        for folder, _, files in sorted(os.walk(root)):
            package = PACKAGE + folder[len(root) :].replace(os.sep, ".")
            for file in sorted(file for file in files if file.endswith(".py")):
                with open(os.path.join(folder, file), "rb") as text:
                    calls = _REGISTERS.findall(text.read())
                for name in (name for call in calls for name in re.findall(r"\w+", call.decode())):
                    found.setdefault(name, []).append(f"{package}.{file[:-3]}")
    return found


@cache
def _import_installed() -> None:
    folders = _folders()
    if not _announced(folders):
        return
    from importlib.metadata import distributions  # slow to import

    found = (e for package in distributions(path=folders) for e in package.entry_points)
    for entry in dict.fromkeys(e for e in found if e.group == ENTRY_POINTS):
        try:
            entry.load()
        except Exception as e:
            raise NetError(
                f"the layers {entry.name} = {entry.value}, which an installed package brings as "
                f"{ENTRY_POINTS}, cannot be imported: {in_one_line(e)}"
            ) from e


def _folders() -> list[str]:
    """Where packages are installed: not the folder that we are in, which may be a stranger's.

    Python puts it in front for ``python -m pycaffe_dist``.
    """
    here = Path.cwd()
    return [folder for folder in sys.path if folder and Path(folder).resolve() != here]


def _announced(folders: Sequence[str]) -> bool:
    """Whether the entry points of some installed package name our group."""
    files = (
        file
        for folder in map(Path, folders)
        for kind in ("dist-info", "egg-info")
        for file in folder.glob(f"*.{kind}/entry_points.txt")
    )
    return any(ENTRY_POINTS in file.read_text(errors="replace") for file in files)


# -- making layers ---------------------------------------------------------------------------------


def create_layer(param: LayerParameter, context: Context) -> Layer:
    """A layer of the type that ``param`` names."""
    if not is_known(param.type):
        raise NetError(_unknown_type(param))
    cls = reading(param).cls
    param = in_bvlc_words(param)
    if cls.__module__.startswith(PACKAGE) and (added := telling(param)):
        _refuse(param, _unread(param, cls, added))
        if _of_bvlc(cls.__module__):
            return cls(param, context)  # an engine's own class knows BVLC's fields only
    return context.engine.layer_class(param.type, cls)(param, context)


@cache
def _of_bvlc(module: str) -> bool:
    """Whether a module has layers of BVLC's."""
    return re.fullmatch(r"pycaffe_dist\.layers\.\w+", module) is not None


def _unread(param: LayerParameter, cls: type[Layer], added: Sequence[str]) -> list[str]:
    """Of forks' fields in a layer's messages those that its class does not read.

    Files have messages that are left over from a layer of another type; BVLC's types never do.
    """
    if not _of_bvlc(cls.__module__):
        read, messages = LayerParameter(), messages_of(cls)
        for field, value in param.ListFields():
            if field.message_type and field.name in messages:
                getattr(read, field.name).CopyFrom(value)
        added = telling(read)
    return [where for where in added if where not in cls.fork_fields]


def messages_of(cls: type[Layer]) -> tuple[str, ...]:
    """The parameter messages that a class and its bases read, as their methods name them."""
    names: dict[str, None] = {}
    for base in cls.__mro__[:-2]:  # all but Layer and object
        for function in filter(None, map(_function, vars(base).values())):
            names |= dict.fromkeys(_messages_in(function.__code__))
    # Where it is read with getattr or in a helper, it has the layer's name.
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.type).lower() + "_param"
    known = LayerParameter.DESCRIPTOR.fields_by_name
    if snake in known and (not _of_bvlc(cls.__module__) or known[snake].number < PRIVATE):
        names[snake] = None
    return tuple(name for name in names if name in known)


def _function(member: object) -> FunctionType | None:
    """What a method, a property or the like was made of."""
    for wrapped in ("__func__", "fget", "func"):
        member = getattr(member, wrapped, member)
    return member if isinstance(member, FunctionType) else None


@cache  # reading functions takes longer than making a layer
def _messages_in(code: CodeType) -> tuple[str, ...]:
    """The messages that a function, or one within it, takes from ``layer_param``."""
    within = [c for c in code.co_consts if isinstance(c, CodeType)]
    found = [name for function in within for name in _messages_in(function)]
    before = None
    for step in dis.get_instructions(code):
        if before == "layer_param" and str(step.argval).endswith("_param"):
            found.append(step.argval)
        before = step.argval
    return tuple(found)


def _refuse(param: LayerParameter, fields: Sequence[str]) -> None:
    if fields:
        parts = [f"{where} is not supported; it comes from {origin(where)}" for where in fields]
        raise NetError(f'layer "{param.name}" ({param.type}): {"; ".join(parts)}')


def unknown_types(layers: Sequence[LayerParameter]) -> list[tuple[int, str]]:
    """The types that nobody registered, all in one line: (index of the first such layer, text)."""
    fine = (UNBUILT, "")  # a missing type is told by the wiring
    wrong = [i for i, one in enumerate(layers) if one.type not in fine and not is_known(one.type)]
    if not wrong:
        return []
    known = layer_types()
    by_fork = forks.by_fork(layers[i].type for i in wrong)
    others = by_fork.pop("", [])
    if len(others) + sum(map(len, by_fork.values())) == 1:
        return [(wrong[0], _unknown_type(layers[wrong[0]]))]
    parts = [f"{', '.join(types)} from {fork}" for fork, types in by_fork.items()]
    for name in others[:MOST_HINTS]:
        parts.append(name + did_you_mean(name, known).replace(";", ","))
    parts += others[MOST_HINTS:]
    return [(wrong[0], f"this file needs layer types that are not known: {'; '.join(parts)}")]


def _unknown_type(layer: LayerParameter) -> str:
    source = forks.of_layer_type(layer.type)
    hint = f"; it comes from {source}" if source else did_you_mean(layer.type, layer_types())
    return f'layer "{layer.name}": type "{layer.type}" is not known{hint}'
