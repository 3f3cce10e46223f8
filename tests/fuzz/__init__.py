"""Random kernels, launches and pipelines, and attacks: what is run for as long as one likes."""
