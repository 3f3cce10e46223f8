"""Arrays of other libraries: described, taken, and handed out."""
