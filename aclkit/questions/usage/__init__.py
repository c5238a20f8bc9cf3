"""Kafka's authorizer log → was each line decided as the ACLs say, and which grants are used?"""
