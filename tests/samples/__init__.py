"""Kernels and launches that many tests share."""
