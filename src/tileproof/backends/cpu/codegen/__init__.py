"""LLVM IR from the IR of a kernel: elements, blocks, loops, checks."""
