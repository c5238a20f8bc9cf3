"""Kafka's own faces: its Authorizer, its principals, its command line, its class as judge."""
