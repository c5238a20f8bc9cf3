"""ACLs → findings: what a person should look at, one module per family."""
