"""Advice of several sources → one change set, in an order in which nothing opens on the way."""
