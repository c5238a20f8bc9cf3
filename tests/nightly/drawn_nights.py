"""Nights by chance: two clusters in one warehouse, and whatever may happen to them, by a seed.

``python -m tests.nightly.drawn_nights --nights 300 --seed 1`` draws as many as it is told to.
Between two nights ACLs come and go (some in transactions, some with an empty name or a range),
topics are deleted and made anew, settings, presets and inventories change, runs and maintenance
are killed at a commit and started again. After each night every cell of ``explain`` is compared
with the pure rule, every cell of ``access_change_cell`` with the difference of both nights, and
every table version that a kept run names is read.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from deltalake import DeltaTable

from aclkit.model.acl import Acl, Request
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.rules.decide.order import BrokerRescan
from aclkit.rules.decide.rules import decide
from aclkit.runtime.spark import build_session
from aclkit.warehouse.duck import connect
from aclkit.warehouse.job_run import published_runs
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.retention import Policy, keep
from tests.cli.running import run
from tests.nightly.test_nightly import acl_id, line
from tests.warehouse.aging import Killed, kill_at

FEW = {"spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1"}
PRESETS = {"kip-1042": KIP_1042, "kafka": KAFKA}
PRINCIPALS = ("User:a", "User:b", "User:ab", "User:*", "User:a*", "Group:a", "User:root")
HOSTS = ("*", "*", "10.0.0.1", "10.0.0.0/8", "10.*", "10.1.2.3")
NAMES = ("", "a", "ab", "b", "*", "a*", "pay.x")
TYPES = ("TOPIC", "TOPIC", "GROUP", "GROUP", "TRANSACTIONAL_ID", "CLUSTER")
OPERATIONS = ("READ", "WRITE", "DESCRIBE", "ALL", "ALTER")
SUPERS = ("User:root", "User:root;User:a", "User:other", "")
CELL = ("principal", "host", "operation", "resource_type", "resource_name")
Cells = dict[tuple[str, ...], tuple[str, str, str | None]]


@dataclass
class Cluster:
    """One cluster: its log so far, what that leaves alive, and what its nights are told."""

    name: str
    folder: Path
    lines: list[str] = field(default_factory=list)
    acls: dict[str, Acl] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    preset: str = "kip-1042"
    cidr: bool = False
    supers: str = "User:root"
    everyone: bool = False
    principals: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    cells: Cells = field(default_factory=dict)
    before: Cells = field(default_factory=dict)

    @property
    def end(self) -> int:
        """The next offset."""
        return len(self.lines)

    def write(self, kind: str, data: dict[str, object]) -> int:
        """Append a record."""
        self.lines.append(line(self.end, kind, data))
        return self.end - 1

    @property
    def settings(self) -> BrokerSettings:
        supers = frozenset(name for name in self.supers.split(";") if name)
        return BrokerSettings(super_users=supers, allow_everyone=self.everyone)

    def command(self) -> list[object]:
        """Return the words of its night."""
        source = self.folder / f"{self.name}.jsonl"
        source.write_text("".join(f"{text}\n" for text in self.lines), encoding="utf-8")
        words: list[object] = [
            "--cluster", self.name, "run", "--source", f"records:{source}", "--fail-on", "never",
            "--semantics", self.preset, "--cidr-hosts", "on" if self.cidr else "off",
            "--super-users", self.supers,
            "--allow-everyone" if self.everyone else "--no-allow-everyone",
        ]  # fmt: skip
        for kind, names in (("principal", self.principals), ("host", self.hosts)):
            if names:
                file = self.folder / f"{self.name}-{kind}s.csv"
                file.write_text("\n".join((kind, *names)) + "\n", encoding="utf-8")
                words += [f"--{kind}s", file]
        return [*words, "--extend"] if self.principals or self.hosts else words


class Nights:
    """A warehouse of two clusters, and the chance that decides what happens to it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.warehouse = folder / "warehouse"
        self.clusters = [Cluster(name, folder) for name in ("one", "two")]
        self.policy: Policy | None = None
        self.said: list[str] = []

    def night(self) -> None:
        """Let something happen, do the night of one cluster, and look at all of it."""
        cluster = self.chance.choice(self.clusters)
        for _ in range(self.chance.choice((0, 1, 1, 2, 5))):
            event = self.chance.choice(EVENTS)
            self.said.append(f"{cluster.name}: {event.__name__}")
            event(cluster, self.chance)
        if not cluster.lines:
            add(cluster, self.chance)
        self.said.append(f"{cluster.name}: a night up to offset {cluster.end}")
        decided = self._decided(cluster)
        self._killed_first(cluster.command())
        if self._decided(cluster) != decided:
            cluster.before = cluster.cells
        self._compare(cluster, has_before=decided is not None)
        if self.chance.random() < 0.2:
            self._maintain()
        for each in self.clusters:
            if each.cells:
                assert self._explained(each) == each.cells, self._story("cells changed")
        self._read_what_is_kept()

    def _killed_first(self, words: list[object]) -> None:
        """Run a command, at times after a start of it that was killed."""
        if self.chance.random() < 0.3:
            point = f"commit-{self.chance.randint(1, 12)}"
            if words[0] == "maintain" and self.chance.random() < 0.5:
                point = "while-removing"
            with pytest.MonkeyPatch.context() as patch:
                kill_at(patch, point)
                self.said.append(f"killed at {point}")
                with suppress(Killed):
                    run("--warehouse", self.warehouse, *words)
        self.said.append(" ".join(map(str, words)))
        try:
            run("--warehouse", self.warehouse, *words)
        except AssertionError as error:
            raise AssertionError(self._story(str(error))) from error

    def _maintain(self) -> None:
        runs = self.chance.choice((1, 2, 5))
        self.policy = Policy(keep_days=0, keep_runs=runs)
        self._killed_first(["maintain", "--keep-days", 0, "--keep-runs", runs])

    def _decided(self, cluster: Cluster) -> int | None:
        if not (self.warehouse / "job_run").exists():
            return None
        published = open_warehouse(str(self.warehouse))
        if cluster.name not in published.clusters:
            return None
        found = published.last_materialize(cluster.name)
        return found.decided_in if found else None

    def _compare(self, cluster: Cluster, *, has_before: bool) -> None:
        semantics = replace(PRESETS[cluster.preset], cidr_hosts=cluster.cidr)
        acls = list(cluster.acls.values())
        search = BrokerRescan.of(acl.pattern for acl in acls)
        cluster.cells = self._explained(cluster)
        assert cluster.cells
        for asked, told in cluster.cells.items():
            request = Request(**dict(zip(CELL, asked, strict=True)))
            is_last = search.wildcard_is_last(request.resource_type, request.resource_name)
            right = decide(acls, request, cluster.settings, semantics, wildcard_is_last=is_last)
            wanted = (right.decision, right.rule, right.acl.acl_id if right.acl else None)
            assert told == wanted, self._story(f"{request}: {told} instead of {wanted}")
        if has_before:
            both = cluster.before.keys() & cluster.cells.keys()
            wanted_changes = {
                (*cell, "gained" if cluster.cells[cell][0] == "ALLOWED" else "lost")
                for cell in both
                if cluster.before[cell][0] != cluster.cells[cell][0]
            }
            found = {each for each in self._changes(cluster) if each[:-1] in both}
            assert found == wanted_changes, self._story(
                f"changes {sorted(found ^ wanted_changes)[:5]}"
            )

    def _explained(self, cluster: Cluster) -> Cells:
        columns = ", ".join((*CELL, "decision", "rule", "deciding_acl_id"))
        sql = f"SELECT {columns} FROM explain WHERE cluster_id = ?"
        with connect(open_warehouse(str(self.warehouse))) as connection:
            rows = connection.execute(sql, [cluster.name]).fetchall()
        cells = {row[: len(CELL)]: row[len(CELL) :] for row in rows}
        assert len(cells) == len(rows)
        return cells

    def _changes(self, cluster: Cluster) -> Iterator[tuple[str, ...]]:
        sql = f"SELECT {', '.join(CELL)}, change FROM access_change_cell WHERE cluster_id = ?"
        with connect(open_warehouse(str(self.warehouse))) as connection:
            yield from connection.execute(sql, [cluster.name]).fetchall()

    def _read_what_is_kept(self) -> None:
        rows = DeltaTable(str(self.warehouse / "job_run")).to_pyarrow_table().to_pylist()
        runs = published_runs(str(self.warehouse), map(_plain, rows))
        policy = self.policy or Policy(keep_days=30, keep_runs=30)
        for table, versions in keep(runs, policy, datetime.now(UTC)).versions.items():
            for version in versions:
                DeltaTable(str(self.warehouse / table), version=version).to_pyarrow_table()

    def _story(self, what: str) -> str:
        return "\n".join((*self.said[-40:], what))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of job_run as DuckDB would."""
    times = {name: row[name].replace(tzinfo=None) for name in ("started_at", "finished_at")}
    return row | times | {name: dict(row[name] or ()) for name in ("counts", "table_versions")}


def add(cluster: Cluster, chance: random.Random) -> None:
    """Add an ACL."""
    acl = _draw(cluster, chance)
    cluster.acls[acl.acl_id] = acl


def remove(cluster: Cluster, chance: random.Random) -> None:
    """Remove an ACL."""
    if cluster.acls:
        gone = chance.choice(sorted(cluster.acls))
        cluster.write("REMOVE_ACCESS_CONTROL_ENTRY_RECORD", {"id": gone})
        del cluster.acls[gone]


def transact(cluster: Cluster, chance: random.Random) -> None:
    """Add ACLs in a transaction that ends well, or is aborted."""
    cluster.write("BEGIN_TRANSACTION_RECORD", {"name": "acls"})
    drawn = [_draw(cluster, chance) for _ in range(chance.randint(1, 3))]
    if chance.random() < 0.6:
        cluster.write("END_TRANSACTION_RECORD", {})
        cluster.acls |= {acl.acl_id: acl for acl in drawn}
    else:
        cluster.write("ABORT_TRANSACTION_RECORD", {"reason": "no"})


def make_topic(cluster: Cluster, chance: random.Random) -> None:
    """Make a topic, or delete one and make it anew."""
    name = chance.choice(("a", "ab", "pay.x", "b"))
    if name in cluster.topics:
        cluster.write("REMOVE_TOPIC_RECORD", {"topicId": cluster.topics.pop(name)})
        if chance.random() < 0.5:
            return
    cluster.topics[name] = acl_id(1_000_000 + cluster.end)
    cluster.write("TOPIC_RECORD", {"name": name, "topicId": cluster.topics[name]})


def reset(cluster: Cluster, chance: random.Random) -> None:
    """Change super users or the default."""
    cluster.supers = chance.choice(SUPERS)
    cluster.everyone = chance.random() < 0.3


def reread(cluster: Cluster, chance: random.Random) -> None:
    """Change how ACLs are read."""
    cluster.preset = chance.choice(sorted(PRESETS))
    cluster.cidr = chance.random() < 0.5


def ask_others(cluster: Cluster, chance: random.Random) -> None:
    """Change whom and from where is asked about."""
    cluster.principals = tuple(chance.sample(("User:c", "User:a", "User:zz"), chance.randint(0, 3)))
    cluster.hosts = tuple(chance.sample(("10.9.9.9", "192.168.0.1"), chance.randint(0, 2)))


EVENTS = (add, add, add, add, remove, remove, transact, make_topic, reset, reread, ask_others)


def _draw(cluster: Cluster, chance: random.Random) -> Acl:
    kind = chance.choice(TYPES)
    name = "kafka-cluster" if kind == "CLUSTER" else chance.choice(NAMES)
    acl = Acl(
        acl_id=acl_id(1 + cluster.end),
        resource_type=kind,
        resource_name=name,
        pattern_type=chance.choice(("LITERAL", "LITERAL", "PREFIXED", "GLOB")),
        principal=chance.choice(PRINCIPALS),
        host=chance.choice(HOSTS),
        operation=chance.choice(OPERATIONS),
        permission_type=chance.choice(("ALLOW", "ALLOW", "DENY")),
    )
    cluster.write("ACCESS_CONTROL_ENTRY_RECORD", {
        "id": acl.acl_id, "resourceType": int(ResourceType[acl.resource_type]),
        "resourceName": acl.resource_name, "patternType": int(PatternType[acl.pattern_type]),
        "principal": acl.principal, "host": acl.host,
        "operation": int(AclOperation[acl.operation]),
        "permissionType": int(AclPermissionType[acl.permission_type]),
    })  # fmt: skip
    return acl


@click.command()
@click.option("--nights", default=300, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(nights: int, seed: int) -> None:
    """Draw nights until one of them is wrong."""
    build_session("drawn-nights", master="local[2]", extra_conf=FEW)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Nights(Path(folder), seed)
        for number in range(1, nights + 1):
            drawn.night()
            if number % 10 == 0:
                click.echo(f"{number} nights")
    click.echo(f"{nights} nights of seed {seed}: none differs")


if __name__ == "__main__":
    main()
