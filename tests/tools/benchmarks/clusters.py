"""Shapes → clusters, whichever kind they are of."""

from __future__ import annotations

from tests.tools.benchmarks import authorizer_benchmark, shapes
from tests.tools.benchmarks.shapes import Cluster, Shape

SKEWS = ("glob-all", "touch-all", "one-principal", "one-topic", "everybody")
"""What a shape's ``skew`` may be: where most of its ACLs are."""


def build(shape: Shape) -> Cluster:
    """Make the cluster of a shape: Kafka's benchmark's, or one of teams."""
    maker = authorizer_benchmark if shape.name.startswith("B3") else shapes
    return maker.build(shape)
