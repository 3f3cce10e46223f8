"""What the commands that generate text share: opening models, settings, figures, and what is shown."""
