"""Tell how good a detector is: pcd eval_detection --model NET --weights W | RESULTS --truth T.

pcd eval_detection --model test.prototxt --weights ssd.caffemodel
pcd eval_detection --model deploy.prototxt --weights ssd.caffemodel --source test_lmdb
pcd eval_detection comp4_det_test_*.txt --truth VOC2007/Annotations --labels labelmap.prototxt
pcd eval_detection results.json --truth instances_val2017.json

A net looks at each image of a database that pcd convert_annoset made, the one that its data layer
names or --source. RESULTS are VOC's files, one for each class, COCO's list, or what pcd detect
--ssd wrote; the truth is such a database, a folder of VOC's .xml, or COCO's .json. All measures
are in percent: 11point is VOC 2007's, MaxIntegral VOC 2010's, COCO the mean over the overlaps 0.5
to 0.95.
"""

from __future__ import annotations

import argparse
import json

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._image_flags import add_means, add_preparation, check_size, preparation
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.data.label_map import read_label_map, shown_names
from pycaffe_dist.proto.caffe_pb2 import LabelMap
from pycaffe_dist.tools.average_precision import evaluate
from pycaffe_dist.tools.detect_boxes import BoxDetector
from pycaffe_dist.tools.detection_files import Objects, read_results, read_truth
from pycaffe_dist.tools.eval_detection import as_json, run_detector, score_table, unknown_images


def main(argv: list[str]) -> int:
    p = parser("eval_detection", __doc__)
    p.add_argument("results", nargs="*", metavar="RESULTS", help="files of detections")
    net = p.add_argument_group("a net")
    flag(net, "model", "model_def", dest="model_def", metavar="FILE", help="its prototxt")
    flag(
        net, "weights", "pretrained_model", dest="pretrained_model", metavar="FILE", help="weights"
    )
    flag(net, "source", default="", metavar="DB", help="a database of images and boxes")
    flag(net, "images", type=int, default=0, metavar="N", help="how many to look at; 0: all")
    add_means(net)
    add_preparation(net)
    files = p.add_argument_group("results")
    flag(files, "truth", metavar="PATH", help="a database, a folder of .xml, or COCO's .json")
    both = p.add_argument_group("both")
    flag(both, "labels", "label_map_file", default="", metavar="FILE", help="a label map")
    text = "the least overlap of what VOC's measures take for right"
    flag(both, "overlap", type=float, default=0.5, metavar="X", help=text)
    both.add_argument("--json", action="store_true", help="the same as JSON, not in percent")
    args = p.parse_args(argv)
    check_size(p, args)
    if bool(args.model_def) == bool(args.results):
        p.error("give a net (--model and --weights), or files of results (and --truth)")
    if args.model_def and not args.pretrained_model:
        p.error("--model needs --weights")
    if args.results and not args.truth:
        p.error("results need the truth to be compared with: --truth")
    if not 0 < args.overlap <= 1:
        p.error("argument --overlap: give a number above 0, up to 1")
    classes = read_label_map(args.labels) if args.labels else LabelMap()
    truth, found, classes = _from_net(args, classes) if args.model_def else _read(args, classes)
    scores, names = evaluate(truth, found, args.overlap), shown_names(classes)
    show(
        json.dumps(as_json(scores, names), indent=1)
        if args.json
        else "\n".join(score_table(scores, names))
    )
    return 0


def _from_net(args: argparse.Namespace, classes: LabelMap) -> tuple[Objects, Objects, LabelMap]:
    net = BoxDetector(preparation(args), args.input_size)
    return *run_detector(net, args.source, args.images), classes


def _read(args: argparse.Namespace, classes: LabelMap) -> tuple[Objects, Objects, LabelMap]:
    truth, classes = read_truth(args.truth, classes)
    found = read_results(args.results, classes)
    unknown = unknown_images(truth, found)
    if unknown:
        text = f"{len(unknown):,} images of the results are not in {args.truth} and do not count: "
        complain(text + ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else ""))
    return truth, found, classes
