"""Flags of training on several ranks, with PMLS-Caffe's spellings."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pycaffe_dist.cli._booleans import VALUES
from pycaffe_dist.cli._flags import Group, flag
from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.plan.links import bits_per_second
from pycaffe_dist.parallel.schemes.scheme import scheme_options
from pycaffe_dist.parallel.settings import COMM, POLICIES, WIRES, ClusterSettings
from pycaffe_dist.tools.elastic import BATCHES, KEEP

DEFAULTS = ClusterSettings()
STALL_SECONDS = f"{DEFAULTS.stall_timeout:g}"


def add_cluster(p: argparse.ArgumentParser) -> None:
    where = p.add_argument_group("several ranks")
    text = "start so many ranks on this machine; PMLS-Caffe's --num-clients"
    flag(where, "ranks", type=int, metavar="P", help=text)
    text = 'start ranks on these hosts: lines "id ip port" or "host slots=4"'
    flag(where, "hostfile", metavar="FILE", help=text)
    flag(where, "num_clients", type=int, help=argparse.SUPPRESS)
    text = "take the steps that P ranks would, on as many as there are"
    flag(where, "as_ranks", type=int, metavar="P", help=text)
    add_elastic_batch(where)

    _add_communication(p.add_argument_group("communication"))

    see = p.add_argument_group("to see it")
    flag(see, "trace", metavar="FILE", help="a trace of all ranks, for ui.perfetto.dev")
    flag(see, "stats_path", metavar="FILE", help="bytes by layer and scheme, and times, as YAML")
    text = "what nets put out, comma-separated, in PREFIX.netoutputs"
    flag(see, "net_outputs", metavar="PREFIX", help=text)


def _add_communication(comm: Group) -> None:
    text = "how gradients travel: auto lets the plan choose"
    flag(comm, "comm", choices=COMM, default=DEFAULTS.comm, help=text)
    text = "the scheme of one layer, as fc6=sfb; may be repeated, or several separated by commas"
    flag(comm, "comm_layer", action="append", default=[], metavar="LAYER=SCHEME", help=text)
    add_scheme_options(comm)
    text = "how the plan chooses: from measured times, or by Poseidon's rule"
    flag(comm, "policy", choices=POLICIES, default=DEFAULTS.policy, help=text)
    text = "exchange while layers below compute"
    flag(comm, "overlap", choices=("on", "off"), default="on", help=text)
    text = "iterations a rank may be ahead of the slowest; PMLS-Caffe's --table-staleness"
    flag(comm, "staleness", type=int, metavar="S", help=text)
    flag(comm, "table_staleness", type=int, help=argparse.SUPPRESS)
    flag(comm, "bandwidth", metavar="RATE", help="what a node may send at most: 200mbit, 1gbit")
    text = "number format of what travels"
    flag(comm, "wire", choices=WIRES, default=DEFAULTS.wire, help=text)
    text = "add the ranks' gradients, as PMLS-Caffe does, instead of averaging them"
    flag(comm, "sum_updates", action="store_true", help=text)
    flag(comm, "sync_bn", action="store_true", help="BatchNorm over the batches of all ranks")
    text = "sfb for every layer that can (on), or for none (off)"
    flag(comm, "svb", nargs="?", const="true", type=_boolean, help=text)
    text = "compare the weights of ranks after so many iterations, besides at snapshots"
    flag(comm, "check_every", type=int, default=DEFAULTS.check_every, metavar="N", help=text)
    text = "GPUs exchange by NCCL where they can (on), or through host memory (off)"
    flag(comm, "nccl", choices=("on", "off"), default="on", help=text)
    text = "give up when a rank is awaited for so long, in seconds; 0: never"
    flag(comm, "stall_timeout", default=STALL_SECONDS, metavar="T", help=text)


def add_elastic_batch(where: Group) -> None:
    text = "ranks of another number divide the joint batch, or keep their own and scale the rate"
    flag(where, "elastic_batch", choices=BATCHES, default=KEEP, help=text)


def add_scheme_options(where: Group) -> None:
    """A flag for each option of a scheme."""
    for name, option in scheme_options().items():
        text = f"{option.help} (default: {option.default:g})"
        flag(where, name.replace("-", "_"), type=float, metavar="F", help=text)


def given_options(args: argparse.Namespace) -> dict[str, float]:
    """The options of schemes that were given."""
    values = {name: getattr(args, name.replace("-", "_")) for name in scheme_options()}
    return {name: value for name, value in values.items() if value is not None}


def asked_ranks(args: argparse.Namespace) -> int | None:
    """How many ranks the flags ask for."""
    return _one(args, "ranks", "num_clients")


def cluster_settings(args: argparse.Namespace, seconds: float) -> ClusterSettings:
    """What the flags mean; ``seconds`` is the stall timeout."""
    comm = args.comm
    if args.svb is not None:
        if comm not in ("auto", "sfb" if args.svb else "dense"):
            raise NetError(f"--svb={str(args.svb).lower()} and --comm {comm} contradict each other")
        comm = "sfb" if args.svb else "dense"
    return ClusterSettings(
        comm=comm,
        comm_layer=by_layer(args.comm_layer),
        policy=args.policy,
        overlap=args.overlap == "on",
        staleness=_one(args, "staleness", "table_staleness") or 0,
        bandwidth=bits_per_second(args.bandwidth) if args.bandwidth else None,
        wire=args.wire,
        sum_updates=args.sum_updates,
        sync_bn=args.sync_bn,
        check_every=args.check_every,
        nccl=args.nccl == "on",
        stall_timeout=seconds,
        trace=args.trace,
        stats_path=args.stats_path,
        net_outputs=args.net_outputs,
        options=given_options(args),
    )


def by_layer(given: Iterable[str]) -> dict[str, str]:
    """``["fc6=sfb,fc7=sfb", "fc8=dense"]`` by layer; a layer's name may hold an =."""
    pairs = {}
    for text in (part for one in given for part in one.split(",")):
        layer, equals, scheme = text.rpartition("=")
        if not equals or not layer:
            raise NetError(f"--comm-layer {text!r}: expected LAYER=SCHEME, for example fc6=sfb")
        pairs[layer.strip()] = scheme.strip()
    return pairs


def _one(args: argparse.Namespace, name: str, other: str) -> int | None:
    """The value of a flag that has two names."""
    values = {v for v in (getattr(args, name), getattr(args, other)) if v is not None}
    if len(values) > 1:
        raise NetError(f"--{name} and --{other} are the same and differ: {sorted(values)}")
    return next(iter(values), None)


def _boolean(text: str) -> bool:
    if text.lower() not in VALUES:
        raise argparse.ArgumentTypeError(f"true or false, not {text!r}")
    return VALUES[text.lower()]
