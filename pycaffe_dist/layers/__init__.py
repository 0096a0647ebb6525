"""Caffe's layers: a file for each type, small families together."""
