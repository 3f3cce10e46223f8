"""The engine: which requests a step computes, and how steps run."""
