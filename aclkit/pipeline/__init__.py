"""The way of the data: sources, replay, inventory, explain."""
