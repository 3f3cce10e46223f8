"""Launches: arguments are bound, the kernel compiled, guards checked, the code started."""
