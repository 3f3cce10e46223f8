"""CUDA Tile IR as bytes: types, operations, a checking builder, an encoder, a decoder and a printer."""
