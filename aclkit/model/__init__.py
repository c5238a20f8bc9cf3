"""Kafka's words as Python values: enums, principals, hosts, patterns, ACLs, filters. Pure."""
