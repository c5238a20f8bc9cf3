"""A real Kafka on loopback, from its Maven jars, and what is compared with it.

``with start_broker(folder) as broker`` is a controller and broker in one process;
``make broker-test`` runs ``python -m tests.tools.broker``.
"""
