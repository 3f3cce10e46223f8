"""Tests of the IR, built by hand: no front end is needed."""
