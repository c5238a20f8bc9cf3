"""An answer as one value, and a module per format that writes it."""
