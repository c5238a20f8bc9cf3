"""Clusters of a given size and seed, for the benchmarks: who, where, what, and ACLs on it.

The numbers are those of issue 4: of the ACLs about 62 % LITERAL, 37 % PREFIXED, a few on ``*``
and for ``User:*``, 6 % DENY, one in five bound to a host. Topics are named as teams name them
(``team.domain.app-n``) and prefixes stop at a dot.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle, islice

from aclkit.model.acl import Acl

OPERATIONS = ("READ",) * 8 + ("WRITE",) * 5 + ("DESCRIBE",) * 3 + ("ALL",) * 2 + (
    "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large a cluster is.

    Attributes:
        globs: share of the ACLs whose pattern is a glob of one to three wildcards.
        skew: extra ACLs that are hard: see ``_skewed``.
        ranges: so many ranges are the hosts of the ACLs that are bound to one.
        addresses: so many addresses are, and are asked about too.
    """

    name: str
    principals: int
    resources: int
    acls: int
    hosts: int = 5
    globs: float = 0.0
    seed: int = 1
    skew: str = ""
    ranges: int = 0
    addresses: int = 0

    @property
    def decisions(self) -> int:
        """Decisions asked for, any-other rows and the cluster aside: topics know 8 operations."""
        return self.principals * self.hosts * 8 * self.resources


B1 = Shape(name="B1", principals=400, resources=5_000, acls=19_600)
B2 = Shape(name="B2", principals=2_500, resources=10_000, acls=100_000)
B2G = Shape(name="B2g", principals=2_500, resources=10_000, acls=100_000, globs=0.15)
# So many billion decisions.
S10 = Shape(name="S10", principals=12_500, resources=20_000, acls=500_000)
S30 = Shape(name="S30", principals=15_000, resources=50_000, acls=700_000)
S100 = Shape(name="S100", principals=25_000, resources=100_000, acls=1_000_000)


@dataclass(slots=True)
class Cluster:
    """What a shape came to."""

    shape: Shape
    principals: list[str]
    hosts: list[str]
    topics: list[str]
    acls: list[Acl] = field(default_factory=list)


def build(shape: Shape) -> Cluster:
    """Make the cluster of a shape; the same seed makes the same one."""
    rng = random.Random(shape.seed)
    cluster = Cluster(
        shape=shape,
        principals=[f"User:app-{n:05}" for n in range(shape.principals)],
        hosts=[f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}" for n in range(1, shape.hosts + 1)],
        topics=list(_topics(shape.resources)),
    )
    cluster.acls = [
        Acl(acl_id=f"{number:022}", **fields) for number, fields in enumerate(_acls(cluster, rng))
    ]
    _bind(cluster)
    return cluster


def _bind(cluster: Cluster) -> None:
    """Give the ACLs that are bound to a host another one, and leave the rest as it is."""
    shape = cluster.shape
    addresses = [f"10.{n % 250}.{n // 250}.77" for n in range(shape.addresses)]
    cluster.hosts += addresses
    hosts = addresses + list(islice(_ranges(), shape.ranges))
    if hosts:
        following = cycle(hosts)
        cluster.acls = [
            acl if acl.host == "*" else replace(acl, host=next(following)) for acl in cluster.acls
        ]


def _ranges() -> Iterator[str]:
    """Yield ranges as networks are cut: a /16 with four /20, in each of them a /24, and so on."""
    yield "10.0.0.0/8"
    for second in range(1, 250):
        yield f"10.{second}.0.0/16"
        for part in range(4):
            yield f"10.{second}.{part * 16}.0/20"
            yield f"10.{second}.{part * 16 + 3}.0/24"


def _topics(count: int) -> Iterator[str]:
    """Yield 50 teams with 10 domains each, whatever their number."""
    for n in range(count):
        team, domain = n % 50, n // 50 % 10
        yield f"team{team:02}.domain{domain}.app{n // 500 % 20:02}-{n // 10_000}"


def _acls(cluster: Cluster, rng: random.Random) -> Iterator[dict[str, str]]:
    shape = cluster.shape
    everybody = max(4, shape.acls // 5_000)
    extra = list(_skewed(cluster))
    yield from extra
    for number in range(shape.acls - len(extra)):
        if number < everybody:
            kind, name = rng.choice([("LITERAL", "*"), ("PREFIXED", "team")])
        elif rng.random() < shape.globs:
            kind, name = "GLOB", _glob(rng.choice(cluster.topics), rng)
        elif rng.random() < 0.627:
            kind, name = "LITERAL", rng.choice(cluster.topics)
        else:
            kind, name = "PREFIXED", _prefix(rng.choice(cluster.topics), rng)
        wide = number < 2 * everybody and number % 2
        yield _fields(
            rng,
            kind,
            name,
            "User:*" if wide else rng.choice(cluster.principals),
            rng.choice(cluster.hosts) if rng.random() < 0.2 else "*",
        )


def _prefix(topic: str, rng: random.Random) -> str:
    team, domain, _ = topic.split(".")
    return f"{team}." if rng.random() < 0.85 else f"{team}.{domain}."


def _glob(topic: str, rng: random.Random) -> str:
    team, domain, app = topic.split(".")
    return rng.choice(
        [
            f"{team}.*.{app}",
            f"*.{domain}.{app}",
            f"{team}.{domain[:-1]}?.{app[:4]}*",
            f"*{team[-1]}.{domain}.*-?",
            f"te?m{team[-2:]}.*.{app[:5]}*",
        ]
    )


def _fields(rng: random.Random, kind: str, name: str, principal: str, host: str) -> dict[str, str]:
    return {
        "resource_type": "TOPIC",
        "resource_name": name,
        "pattern_type": kind,
        "principal": principal,
        "host": host,
        "operation": rng.choice(OPERATIONS),
        "permission_type": "DENY" if rng.random() < 0.06 else "ALLOW",
    }


def _skewed(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Yield the ACLs of a hard case.

    ``glob-all``: one glob that matches all principals. ``touch-all``: one pattern that touches
    every resource. ``one-principal``: all ACLs are one principal's. ``one-topic``: all ACLs are one
    topic's. ``everybody``: thousands of ACLs for ``User:*``.
    """
    shape = cluster.shape
    rng = random.Random(shape.seed + 1)
    if shape.skew == "glob-all":
        yield _fields(rng, "PREFIXED", "team", "User:app-*", "*")
    elif shape.skew == "touch-all":
        yield _fields(rng, "GLOB", "*-?", cluster.principals[0], "*")
    elif shape.skew == "one-principal":
        for _ in range(shape.acls):
            topic = rng.choice(cluster.topics)
            yield _fields(rng, "LITERAL", topic, cluster.principals[0], rng.choice(cluster.hosts))
    elif shape.skew == "one-topic":
        for _ in range(shape.acls):
            who, host = rng.choice(cluster.principals), rng.choice(cluster.hosts)
            yield _fields(rng, "LITERAL", cluster.topics[0], who, host)
    elif shape.skew == "everybody":
        for _ in range(min(shape.acls, 5_000)):
            yield _fields(rng, "LITERAL", rng.choice(cluster.topics), "User:*", "*")
