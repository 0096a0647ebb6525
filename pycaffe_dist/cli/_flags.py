"""Flags in gflags' spellings: ``-f v``, ``--f v``, ``-f=v``, ``--f=v``."""

from __future__ import annotations

import argparse
import logging
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.engines import runtime
from pycaffe_dist.engines.base import set_default_engine
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.proto.bvlc import DIALECT
from pycaffe_dist.proto.forks import FORKS
from pycaffe_dist.proto.suggest import did_you_mean, near
from pycaffe_dist.report import glog
from pycaffe_dist.threads import placement, set_threads
from pycaffe_dist.user_modules import import_layers

Group = argparse._ActionsContainer  # a parser, or a group of its flags


class Parser(argparse.ArgumentParser):
    """Reads a verb's flags; of the spellings of a flag the help shows one."""

    def __init__(self, verb: str, doc: str | None) -> None:
        super().__init__(
            prog=f"pcd {verb}",
            description=doc,
            allow_abbrev=False,
            add_help=False,
            formatter_class=partial(_Help, max_help_position=30),
        )
        text = "show this and end"
        one = self.add_argument("-h", "-help", "--help", action="help", help=text)
        one.option_strings = ["-h", "--help"]
        quiet, verbose = "results, warnings and errors only", "everything, debugging lines too"
        self.add_argument("-q", "--quiet", action=_Speak, const=logging.WARNING, help=quiet)
        self.add_argument("-v", "--verbose", action=_Speak, const=logging.DEBUG, help=verbose)

    # What argparse annotates by overloads.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._refuse_unknown(args)
        return super().parse_known_args(args, namespace)

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._refuse_unknown(args)
        return super().parse_known_intermixed_args(args, namespace)

    def _refuse_unknown(self, args: Sequence[str]) -> None:
        """Of all that is wrong with a command, a misspelt flag is the cause: it comes first."""
        known = self._option_string_actions
        others = any(action.nargs == argparse.REMAINDER for action in self._actions)
        for word in args:
            if word == "--" or (others and not word.startswith("-")):
                return  # what follows is not for us
            name = word.partition("=")[0]
            # -ofile is the flag -o with its value
            if name in known or word[:2] in known or not re.fullmatch(r"--?[A-Za-z][\w-]*", name):
                continue
            shown = {s.lstrip("-"): s for action in self._actions for s in action.option_strings}
            guess = near(name.lstrip("-").replace("_", "-"), shown)
            hint = f"; did you mean {shown[guess]}?" if guess else ""
            self.error(f"there is no flag {name}{hint} ({self.prog} --help shows all)")


class _Speak(argparse.Action):
    """How much a verb says: a level of the log, which counts more than GLOG_minloglevel."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **settings)

    def __call__(self, parser: object, args: argparse.Namespace, *_: object) -> None:
        setattr(args, self.dest, True)
        glog.ASKED.level = self.const


def leave_out_building(args: argparse.Namespace) -> None:
    """For verbs whose result is one line: how the net is built is logged with ``-v`` only."""
    if not args.verbose:
        glog.ASKED.level = max(logging.WARNING, glog.minimum())


class _Help(argparse.RawDescriptionHelpFormatter):
    """What must be given in the usage, defaults behind the texts."""

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        if usage is not None:  # made before, by parse_intermixed_args
            return super()._format_usage(usage, actions, groups, prefix)
        needed = [action for action in actions if action.required or not action.option_strings]
        return super()._format_usage(usage, needed, [], prefix).rstrip() + " [flags]\n\n"

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        if default is None or isinstance(default, bool) or default in ("", [], argparse.SUPPRESS):
            return text
        values = default if isinstance(default, (tuple, list)) else (default,)
        shown = ",".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
        return f"{text} (default: {shown})".lstrip()


class _AtOnce(argparse.Action):
    """A flag that takes effect as soon as its value is read."""

    def __call__(
        self, parser: argparse.ArgumentParser, _: object, values: object, *__: object
    ) -> None:
        self.take(parser, str(values))

    def take(self, parser: argparse.ArgumentParser, value: str) -> None:
        raise NotImplementedError


class _Import(_AtOnce):
    """Layers are registered before any net is built."""

    def take(self, parser: argparse.ArgumentParser, value: str) -> None:
        import_layers([value])


def parser(verb: str, doc: str | None) -> Parser:
    return Parser(verb, doc)


def flag(where: Group, name: str, *others: str, **settings: Any) -> None:
    """Add a flag under one dash and under two, and by its other names."""
    dashed = name.replace("_", "-")
    names = [f"{dashes}{n}" for n in (name, *others) for dashes in ("-", "--")]
    settings.setdefault("dest", name)
    action = where.add_argument(*dict.fromkeys([*names, f"--{dashed}"]), **settings)
    action.option_strings = [f"--{dashed}"]  # what help and errors show; all are accepted


class _Dialect(_AtOnce):
    """Chosen for this process, and for the ranks that a launcher starts too."""

    def take(self, parser: argparse.ArgumentParser, value: str) -> None:
        if value not in FORKS:
            hint = did_you_mean(value, FORKS) or f"; known: {', '.join(sorted(FORKS))}"
            parser.error(f"there is no dialect {value}{hint}")
        os.environ[DIALECT] = value


def add_import(where: Group) -> None:
    """Where layers come from, and whose they are where forks call several by one name."""
    text = "the fork whose layers are meant where the file leaves it open: ssd, segnet, ..."
    flag(where, "dialect", action=_Dialect, metavar="NAME", help=text)
    text = "a module, or a file that ends in .py, that registers layers; may be repeated"
    flag(where, "import", action=_Import, metavar="MODULE", help=text)


def add_look(where: Group) -> None:
    """The flags of verbs that build nets only to look at them."""
    add_import(where)
    text = "import the modules of Python layers and ask them for shapes"
    flag(where, "allow_python", action="store_true", help=text)


def add_state(where: Group) -> None:
    flag(where, "level", type=int, default=0, help="level of the net's state")
    flag(where, "stage", default="", help="stages of the net's state, separated by commas")


def add_gpu(where: Group) -> None:
    flag(where, "gpu", default="", metavar="IDS", help="GPUs: 0, or 0,1, or all")


def add_computing(p: Parser) -> None:
    """Where a verb that runs a net alone computes, as a group of flags."""
    where = p.add_argument_group("where it computes")
    add_gpu(where)
    add_engine(where, test=True)


def add_engine(where: Group, test: bool = False) -> None:
    """Where to compute; nets in TEST may also be computed by an inference library."""
    names = ("auto", *engines.NAMES, *(runtime.NAMES if test else ()))
    text = "where to compute (default: PCD_ENGINE, or else auto, the fastest CPU engine)"
    flag(where, "engine", choices=names, help=text)
    add_precision(where)
    text = "threads that compute (default: cores / ranks on the node)"
    flag(where, "threads", type=int, metavar="N", help=text)


class _Precision(_AtOnce):
    """Chosen for this process, and for the ranks that a launcher starts too."""

    def take(self, parser: argparse.ArgumentParser, value: str) -> None:
        os.environ[engines.PRECISION] = value


def add_precision(where: Group) -> None:
    text = "of products: fp32 (default); bf16, or bf16-emulated on any processor; on GPUs tf32, "
    text += "bf16 or fp16"
    flag(where, "precision", action=_Precision, choices=engines.PRECISIONS, help=text)


def use_engine(args: argparse.Namespace) -> None:
    """Let this process compute with the engine, or the GPU, and the threads that were asked for."""
    if args.engine in runtime.NAMES:
        os.environ[runtime.VARIABLE], args.engine = args.engine, None
    elif args.engine:
        os.environ[runtime.VARIABLE] = "off"  # that engine, and no other
    if args.engine or args.gpu:
        device = devices(args.gpu, args.engine)[0] if args.gpu else None
        set_default_engine(engines.asked_for(args.engine, device))
    set_threads(args.threads)
    if args.threads is not None:
        log.info("caffe.cpp:197", "Computing with %s.", placement())


def devices(text: str, engine: str | None = None) -> list[int]:
    """The GPUs that ``-gpu`` names; with ``--engine auto`` it does not matter if there are none."""
    from pycaffe_dist.engines.cupy import device_ids  # needed by few, and slow to import

    try:
        return device_ids(text)
    except MissingPartError:
        if engine != "auto":
            raise
        return [0]


def use_gpu(asked: bool, device: int = 0) -> None:
    """Compute on a GPU, for tools that ask for one by a word instead of a number."""
    if asked:
        engines.choose("cupy", device)
