"""Checked IR made ready for backends."""
