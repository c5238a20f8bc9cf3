"""Two clusters and rules for names → the decisions that differ between them. Rules are pure."""
