"""From a kernel to the IR that a backend makes code of."""
