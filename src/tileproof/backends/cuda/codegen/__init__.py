"""CUDA Tile IR from the IR of a kernel."""
