"""Blobs of a trained net over its data, into databases: Caffe's extract_features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from pycaffe_dist import caffe_log as log
from pycaffe_dist import engines
from pycaffe_dist.aliases import Array
from pycaffe_dist.data.backends import Put
from pycaffe_dist.data.database import BACKENDS, new_database
from pycaffe_dist.data.hdf5_rows import new_rows
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.layer import Context
from pycaffe_dist.loading import load_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, Datum, NetState
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.inputs import check_sources, check_weights

DB_TYPES = (*BACKENDS, "hdf5")
LOG_EVERY = 1000


def extract_features(
    weights: str,
    model: str,
    blobs: Sequence[str],
    databases: Sequence[str],
    batches: int,
    db_type: str,
    rank: int = 0,
    ranks: int = 1,
) -> dict[str, int]:
    """Run ``batches`` batches in TEST phase and keep ``blobs``, each in a database of its own.

    Of several ranks, rank r computes the batches r, r + ranks, ... and writes ``<database>_<r>``;
    together they hold what one rank would write, under the same keys.

    Returns:
        The records of each database.

    Raises:
        NetError: there is no such blob, or as many databases as blobs.
        FileError: a database exists or cannot be written, or a file cannot be read.
    """
    if len(blobs) != len(databases):
        given = f"{len(blobs)} blobs and {len(databases)} databases"
        raise NetError(f"{given}: give one database for each blob")
    if batches < 1:
        raise PcdError(f"num_mini_batches must be 1 or more, not {batches}")
    net = _net(weights, model, blobs)
    if ranks > 1:
        databases = [f"{database}_{rank}" for database in databases]
    counts = dict.fromkeys(databases, 0)
    with ExitStack() as stack:
        keep = {
            database: stack.enter_context(_sink(database, db_type, name))
            for name, database in zip(blobs, databases, strict=True)
        }
        counter = stack.enter_context(Counter("batches", batches))
        for batch in range(batches):
            mine = batch % ranks == rank
            _forward(net, mine)
            for name, database in zip(blobs, databases, strict=True) if mine else ():
                blob = net.blobs[net.blob_ids[name]]
                rows = blob.data.reshape(blob.shape or (1,))
                keep[database](batch * len(rows), rows)
                counts[database] += len(rows)
                _log(counter, name, counts[database], len(rows))
            counter.add()
    for name, database in zip(blobs, databases, strict=True):
        text = "Extracted features of %d query images for feature blob %s"
        log.info("extract_features.cpp:182", text, counts[database], name)
    log.info("extract_features.cpp:187", "Successfully extracted the features!")
    return counts


def _net(weights: str, model: str, blobs: Sequence[str]) -> Net:
    """The net in TEST phase with its weights; it has these blobs."""
    file = read_net(model)
    file.net.state.MergeFrom(NetState(phase=TEST))
    check_weights([weights])
    check_sources([file])
    net = Net(file, Context(engine=engines.current()))
    load_weights(net, weights)
    for name in blobs:
        if name not in net.blob_ids:
            hint = did_you_mean(name, net.blob_names)
            raise NetError(f"{model}: there is no blob {name!r}{hint}")
    return net


def _forward(net: Net, mine: bool) -> None:
    """A batch; of one that another rank computes, the data layers alone, to come past it."""
    if mine:
        net.forward()
        return
    for i, bottoms in enumerate(net.bottoms):
        if not bottoms:
            net.forward(i, i)


def _log(counter: Counter, name: str, count: int, added: int) -> None:
    if count // LOG_EVERY > (count - added) // LOG_EVERY:
        text = "Extracted features of %d query images for feature blob %s"
        counter.log("extract_features.cpp:172", text, count // LOG_EVERY * LOG_EVERY, name)


# -- where features go -------------------------------------------------------------------------

Keep = Callable[[int, Array], None]  # the index of the first row, and the rows


@contextmanager
def _sink(path: str, db_type: str, name: str) -> Iterator[Keep]:
    if db_type == "hdf5":
        with new_rows(path, name) as append:
            yield lambda first, rows: append(rows)
    else:
        with new_database(path, db_type) as put:
            yield lambda first, rows: _put_rows(put, first, rows)


def _put_rows(put: Put, first: int, rows: Array) -> None:
    if rows.ndim > 4:
        raise NetError(
            f"a blob of the shape {rows.shape} does not fit into a Datum, which has channels, "
            "height and width. Write hdf5 instead."
        )
    channels, height, width = (*rows.shape[1:], 1, 1, 1)[:3]
    for index, row in enumerate(rows, first):
        datum = Datum(
            channels=channels, height=height, width=width, float_data=row.reshape(-1).tolist()
        )
        put(f"{index:010d}".encode(), datum.SerializeToString())
