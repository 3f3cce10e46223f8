"""NVIDIA's assembler: where it is, its runs, the files that it makes."""
