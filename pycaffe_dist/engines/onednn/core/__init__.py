"""What this engine's layers stand on: the library, primitives, layouts, choices, LLVM kernels."""
