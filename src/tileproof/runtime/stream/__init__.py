"""Streams: work in order, and operations as values."""
