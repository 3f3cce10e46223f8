"""What executes checked IR. All backends take the same IR and give the same values."""
