"""Obligations of a kernel, and how each is discharged: ownership, bounds, coverage."""
