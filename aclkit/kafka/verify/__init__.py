"""Published decisions and Kafka's own authorizer → where the two differ."""
