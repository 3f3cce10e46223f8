"""What runs code on the CPU: threads, queues, loaded code."""
