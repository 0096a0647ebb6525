"""``python -m pycaffe_dist`` is ``pcd``."""

import sys

from pycaffe_dist.cli import main

sys.exit(main())
