"""The layer types that have kernels.  All others run as they are, with CuPy for NumPy."""
