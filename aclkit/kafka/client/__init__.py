"""A Kafka client's configuration → a connection to a cluster, and answers to single requests."""
