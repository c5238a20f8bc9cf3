"""Access review: decisions of a run → items that owners keep or remove, and evidence of it."""
