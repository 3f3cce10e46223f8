"""Memory: blocks, who may use which bytes, what is known of their contents."""
