"""From Python source to typed IR."""
