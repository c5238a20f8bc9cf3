"""Results of a run → pages that people read."""
