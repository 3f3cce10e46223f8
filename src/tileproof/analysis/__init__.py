"""Obligations of a kernel, and how each is settled: ownership, bounds, coverage."""
