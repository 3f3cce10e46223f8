"""Launching kernels: arguments are checked against the signature, the kernel compiled for them, a backend runs it."""
