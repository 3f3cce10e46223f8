"""Obligations of a kernel (ownership, bounds, coverage) and their proofs."""
