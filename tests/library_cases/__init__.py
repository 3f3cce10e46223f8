"""Calls of the functions of the kernel library and what float64 gives for them: a file for each family."""
