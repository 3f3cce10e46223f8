"""GEMM: the micro kernel, packing of operands, dot products of integers."""
