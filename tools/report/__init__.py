"""What `python -m tools.report` shows: facts about a library of kernels, and the ways to show them."""
