"""From text to tokens and back, and chat templates."""
