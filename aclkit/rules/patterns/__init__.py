"""Which patterns match a name: the specification, the index, the order of specificity."""
