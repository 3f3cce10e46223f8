"""What tests of several folders share and that is neither an oracle nor a sample."""
