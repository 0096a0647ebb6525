"""``caffe.net_spec``: pycaffe/net_spec.py under the name that scripts import."""

import sys

from pycaffe_dist.pycaffe.net_spec import *  # noqa: F403  for type checkers

sys.modules[__name__] = sys.modules["pycaffe_dist.pycaffe.net_spec"]
