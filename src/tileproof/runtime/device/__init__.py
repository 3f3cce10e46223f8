"""The devices: memory, streams, launches and graphs of the host and of GPUs."""
