"""What a user writes: signatures and docstrings only. The front end gives the words their meaning.

`tileproof/__init__` gathers the public names; here each is imported from its own module.
"""
