"""What is proved of a kernel before it launches."""
