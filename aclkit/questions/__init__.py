"""What people ask of a published run."""
