"""The layers of each ONNX operator, by families; `build.imports` makes them known."""
