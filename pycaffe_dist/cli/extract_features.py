"""Keep blobs of a net: pcd extract_features WEIGHTS NET BLOB[,BLOB] DB[,DB] BATCHES DB_TYPE [CPU].

pcd extract_features net.caffemodel net.prototxt fc7,prob fc7_lmdb,prob_lmdb 10 lmdb

Under mpirun each rank computes its share of the batches and writes DB_<rank>; the keys are those
of one rank's run.
"""

from __future__ import annotations

from pycaffe_dist.cli._flags import add_import, add_precision, parser, use_gpu
from pycaffe_dist.parallel.job.launcher import rank_and_size
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.extract_features import DB_TYPES, extract_features


def main(argv: list[str]) -> int:
    p = parser("extract_features", __doc__)
    p.add_argument("weights", metavar="WEIGHTS", help="a .caffemodel, binary or HDF5")
    p.add_argument("model", metavar="NET", help="a prototxt with its own data layer")
    p.add_argument("blobs", metavar="BLOB[,BLOB]", help="names of blobs")
    p.add_argument("databases", metavar="DB[,DB]", help="one for each blob; they are made")
    p.add_argument("batches", type=int, metavar="BATCHES", help="how many batches")
    p.add_argument("db_type", choices=DB_TYPES, metavar="DB_TYPE", help=", ".join(DB_TYPES))
    p.add_argument(
        "mode", nargs="?", choices=("CPU", "GPU"), default="CPU", metavar="CPU|GPU", help="where"
    )
    p.add_argument("device", nargs="?", type=int, default=0, metavar="DEVICE_ID", help="which GPU")
    add_import(p)
    add_precision(p)
    args = p.parse_args(argv)
    log_to_stderr()
    use_gpu(args.mode == "GPU", args.device)
    rank, ranks = rank_and_size()  # the work needs no other word between ranks
    blobs, databases = args.blobs.split(","), args.databases.split(",")
    counts = extract_features(
        args.weights, args.model, blobs, databases, args.batches, args.db_type, rank, ranks
    )
    for path, count in counts.items():
        print(f"{path}: {count:,} records")
    return 0
