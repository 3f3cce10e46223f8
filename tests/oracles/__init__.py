"""What tests compare with: other implementations of the same meaning, and stand-ins for drivers and libraries."""
