"""Packaged data: the metadata log of a real Kafka 4.1 cluster, for ``aclkit demo``."""
