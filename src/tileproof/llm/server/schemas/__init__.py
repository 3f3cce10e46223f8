"""Requests as clients send them, one file for each API."""
