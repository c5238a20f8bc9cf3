"""Kafka's authorizer log → does each line agree with the ACLs, and which grants are used?"""
