"""The version of this package."""

VERSION = "0.2.0"
CAFFE = "1.0.0"  # the Caffe whose API this is
