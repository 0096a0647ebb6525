"""The form of each layer in PyTorch: a submodule, a call, or a part of our own."""
