"""The IR: typed operations in structured blocks, their printer and their rules."""
