"""Graphs: launches that are recorded once and replayed."""
