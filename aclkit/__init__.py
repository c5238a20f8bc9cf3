"""Decide and explain every access of a Kafka cluster, from its own metadata log."""

__version__ = "0.3.0"
