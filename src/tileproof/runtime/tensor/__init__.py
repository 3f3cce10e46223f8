"""Tensors: views, creation, copies, access by the host."""
