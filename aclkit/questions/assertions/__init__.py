"""Assertions: policies (never, always, only …), checked against the published decisions."""
