"""ACLs → fewer that decide alike, and fewer that would on the names there are."""
