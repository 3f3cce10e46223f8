"""From files to weights: Hugging Face folders and GGUF files."""
