"""Assertions: what must never, always, or only be, held against the published decisions."""
