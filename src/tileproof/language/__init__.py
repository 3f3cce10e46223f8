"""The public names of the language: signatures and docstrings. The front end implements them.

`tileproof/__init__` gathers the public names; here each is imported from its own module.
"""
