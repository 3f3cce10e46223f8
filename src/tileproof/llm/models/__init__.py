"""Models: their sizes, their weights, and the operations of a step, one file a family."""
