"""A file for each accelerated layer, named as in ``pycaffe_dist/layers``."""
