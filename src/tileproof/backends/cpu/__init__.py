"""Kernels as native code: LLVM IR written here, compiled by llvmlite, run by a pool of threads."""
