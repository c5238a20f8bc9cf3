"""Kafka's Authorizer (KIP-504) in Python, over a published warehouse or a list of ACLs."""
