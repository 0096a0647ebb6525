"""Show runs in the browser, live: pcd board [RUNS ...].

pcd board                       (the runs below the folder runs)
pcd board runs old/train.log    (folders of runs, metrics files, logs of Caffe's)
pcd board runs --data data --control    (databases too; may start and stop runs)
"""

from __future__ import annotations

import threading

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.server import BoardServer
from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.errors import PcdError


def main(argv: list[str]) -> int:
    p = parser("board", __doc__)
    text = "folders of runs, or their files"
    p.add_argument("runs", nargs="*", default=["runs"], metavar="RUNS", help=text)
    text = "a folder of databases, or of solvers to start; may be repeated"
    flag(p, "data", action="append", default=[], metavar="DIR", help=text)
    text = "the address to listen on; for another than this machine's own a token is needed"
    flag(p, "host", default="127.0.0.1", metavar="ADDRESS", help=text)
    flag(p, "port", type=int, default=6006, metavar="N", help="0: any that is free")
    flag(p, "control", action="store_true", help="let the page start, stop and snapshot runs")
    args = p.parse_args(argv)
    board = Board(Places(args.runs, args.data), args.control)
    try:
        server = BoardServer(board, args.host, args.port)
    except (OSError, OverflowError) as e:
        why = getattr(e, "strerror", None) or e
        raise PcdError(
            f"cannot listen on {args.host}, port {args.port}: {why}. --port 0 takes a free one."
        ) from e
    print(f"The board is at {server.address} (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        threading.Thread(target=server.shutdown).start()
    finally:
        server.server_close()
    return 0
