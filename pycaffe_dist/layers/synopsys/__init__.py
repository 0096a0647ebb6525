"""Layers that the converters of Synopsys Caffe write for those of TensorFlow and ONNX."""
