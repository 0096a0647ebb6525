"""From an ONNX model to a net: ``model`` reads the file, ``build`` makes layers of operators."""
