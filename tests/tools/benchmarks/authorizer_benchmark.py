"""The shape of Kafka's own AuthorizerBenchmark (jmh-benchmarks, package acl), for aclkit.

A resource has ACLs of many principals, one in five resource names is a prefix, one in ten a
group; one prefix over all of them is bound to ten hosts, and LITERAL ``*`` holds a tenth as many
ACLs as there are resources, for texts that are no host.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclkit.model.acl import Acl
from tests.tools.benchmarks.shapes import Cluster, Shape

DENY_SHARE = 0.2
B3 = Shape(name="B3", principals=50, resources=50_000, acls=2_500_000, hosts=10)
B3_WIDE = Shape(name="B3-wide", principals=10, resources=200_000, acls=2_000_000, hosts=10)


def build(shape: Shape) -> Cluster:
    """Make the cluster: ``shape.principals`` is the benchmark's ACLs per resource."""
    cluster = Cluster(
        shape=shape,
        principals=[_principal(n) for n in range(shape.principals)],
        hosts=[f"127.0.0.{n}" for n in range(shape.hosts)],
        topics=[_name(n) for n in range(shape.resources)],
    )
    cluster.acls = [
        Acl(acl_id=f"{number:022}", **fields) for number, fields in enumerate(_acls(cluster))
    ]
    return cluster


def _acls(cluster: Cluster) -> Iterator[dict[str, str]]:
    rng = random.Random(cluster.shape.seed)
    for number, name in enumerate(cluster.topics):
        for principal in cluster.principals:
            kind = "GROUP" if number % 10 == 0 else "TOPIC"
            yield from _allow(rng, kind, name, number % 5 == 0, principal, "*")
    for host in cluster.hosts:
        yield from _allow(rng, "TOPIC", _name(""), True, cluster.principals[0], host)
    for number in range(cluster.shape.resources // 10):
        yield from _allow(rng, "TOPIC", "*", False, cluster.principals[0], f"127.0.0{number}")


def _allow(
    rng: random.Random, kind: str, name: str, is_prefix: bool, principal: str, host: str
) -> Iterator[dict[str, str]]:
    for permission in ("ALLOW", *(("DENY",) if rng.random() < DENY_SHARE else ())):
        yield {
            "resource_type": kind,
            "resource_name": name,
            "pattern_type": "PREFIXED" if is_prefix else "LITERAL",
            "principal": principal,
            "host": host,
            "operation": "READ",
            "permission_type": permission,
        }


def _principal(number: int) -> str:
    return f"User:test-user{number or ''}"


def _name(number: int | str) -> str:
    return f"foo-bar35_resource-{number}"
