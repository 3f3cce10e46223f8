"""The CUDA backend: checked IR to CUDA Tile IR, assembled by NVIDIA's `tileiras`."""
