"""Accesses that brokers refused → why, since when, and what would allow them."""
