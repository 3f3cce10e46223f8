"""The CUDA driver: its calls, pinned memory, loaded code, launches."""
