"""The ONNX operators of each layer, by families; `exporters.exports` makes them known."""
