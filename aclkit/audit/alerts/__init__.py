"""A night's result → a message to people."""
