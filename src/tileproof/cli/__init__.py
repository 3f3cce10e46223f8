"""The command line: `tileproof check`, `ir` and `explain`, one file per command."""
