"""``caffe.coord_map``: pycaffe/coord_map.py under the name that scripts import."""

import sys

from pycaffe_dist.pycaffe.coord_map import *  # noqa: F403  for type checkers

sys.modules[__name__] = sys.modules["pycaffe_dist.pycaffe.coord_map"]
