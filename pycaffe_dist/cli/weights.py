"""Look into weights, compare, edit, take out and put back: pcd weights stats|diff|edit|dump|load.

pcd weights stats FILE       a row for each blob; exit code 1 if a value is NaN or infinite
pcd weights diff A B         what differs, layer by layer; exit code 1 if something does
pcd weights edit FILE -o OUT rename and prune layers, change the number of classes
pcd weights dump FILE -o OUT as .npz or .safetensors, arrays called LAYER/NUMBER
pcd weights load FILE -o OUT such a file as a .caffemodel
"""

from __future__ import annotations

import argparse

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.report.table import table
from pycaffe_dist.tools import weights

ARRAYS = (".npz", ".safetensors")


def main(argv: list[str]) -> int:
    p = parser("weights", __doc__)
    p.formatter_class = argparse.RawDescriptionHelpFormatter
    p.add_argument("what", choices=tuple(DOES), help="what to do")
    p.add_argument("files", nargs="+", metavar="FILE", help=".caffemodel, .npz or .safetensors")
    p.add_argument("-o", "--output", metavar="FILE", default="", help="the file to write")
    look = p.add_argument_group("stats and diff")
    text = "only blobs or layers like that, * for any characters"
    flag(look, "only", action="append", default=[], metavar="PATTERN", help=text)
    text = "draw how the values of such blobs or layers are spread"
    flag(look, "histogram", action="append", default=[], metavar="PATTERN", help=text)
    text = "of diff: differences that do not count, as a part of the largest value"
    flag(look, "tolerance", type=float, default=0.0, metavar="X", help=text)
    edit = p.add_argument_group("edit")
    flag(edit, "rename", action="append", default=[], metavar="OLD=NEW", help="a layer's new name")
    flag(edit, "prune", action="append", default=[], metavar="PATTERN", help="layers to leave out")
    text = "give a layer N outputs; new ones are drawn with the spread of the old"
    flag(edit, "classes", action="append", default=[], metavar="LAYER=N", help=text)
    flag(edit, "seed", type=int, default=1, metavar="N", help="of what is drawn")
    args = p.parse_intermixed_args(argv)
    _check(p, args)
    return DOES[args.what](p, args)


def _check(p: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    wanted = 2 if args.what == "diff" else 1
    if len(args.files) != wanted:
        p.error(f"{args.what} takes {wanted} file{'s' * (wanted > 1)}, found {len(args.files)}")
    if (args.what in ("edit", "dump", "load")) != bool(args.output):
        p.error(f"{args.what} {'writes no file' if args.output else 'needs -o FILE'}")


def _stats(p: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    model = weights.read_model(args.files[0])
    rows, bad = weights.stats(model, args.only)
    show(*table(weights.STATS, rows))
    total = sum(blob.size for _, blob in model.named())
    show(f"{len(model.blobs)} layers, {total:,} values")
    if args.histogram:
        show(*weights.histogram(model, args.histogram))
    if bad:
        complain(f"{args.files[0]}: {bad:,} values are NaN or infinite")
    return int(bool(bad))


def _diff(p: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    a, b = map(weights.read_model, args.files)
    rows, lines = weights.diff(a, b, args.tolerance)
    lines += table(weights.DIFF, rows) if rows else []
    if lines:
        show(*lines)
    else:
        show("no difference" + (f" above {args.tolerance:g}" if args.tolerance else ""))
    return int(bool(lines))


def _edit(p: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    (path,) = args.files
    names = [_pair(p, "rename", text) for text in args.rename]
    classes = [_pair(p, "classes", text) for text in args.classes]
    if not (names or classes or args.prune):
        p.error("edit needs --rename, --prune or --classes")
    model = weights.read_model(path)
    weights.prune(model, args.prune, path)
    for layer, count in classes:
        weights.change_classes(model, layer, int(count), path, args.seed)
    weights.rename(model, dict(names), path)
    return _write(args.output, model)


def _dump(p: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    if not args.output.endswith(ARRAYS):
        p.error(f"dump writes {' or '.join(ARRAYS)}, not {args.output}")
    return _write(args.output, weights.read_model(args.files[0]))


def _load(p: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    if not args.files[0].endswith(ARRAYS):
        p.error(f"load takes {' or '.join(ARRAYS)}, not {args.files[0]}")
    if args.output.endswith(ARRAYS):
        p.error(f"load writes a .caffemodel, not {args.output}")
    return _write(args.output, weights.read_model(args.files[0]))


def _write(path: str, model: weights.Model) -> int:
    weights.write_model(path, model)
    blobs = [blob for _, blob in model.named()]
    total = sum(blob.size for blob in blobs)
    show(f"{path}: {len(model.blobs)} layers, {len(blobs)} blobs, {total:,} values")
    return 0


def _pair(p: argparse.ArgumentParser, name: str, text: str) -> tuple[str, str]:
    first, _, second = text.rpartition("=")
    if not first or not second or (name == "classes" and not second.isdecimal()):
        p.error(f"argument --{name}: {text!r} is not of the form its help shows")
    return first, second


DOES = {"stats": _stats, "diff": _diff, "edit": _edit, "dump": _dump, "load": _load}
