"""What `tileproof report` tells: facts about a library of kernels, and the ways to show them."""
