"""Nights of a cluster: what each decides, and what of another night or cluster it leaves."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclkit.errors import DataError
from aclkit.model.brokers import Broker, Brokers
from aclkit.model.semantics import KIP_1042, PRESETS, AskedReading, BrokerSettings
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline import plan
from aclkit.pipeline.explain import decided
from aclkit.pipeline.explain.decided import MaterializeOptions, is_decided, take_inventory
from aclkit.pipeline.explain.materialize import materialize
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.survey import Given
from aclkit.warehouse.codecs import broker_rows
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import begin_run, publish
from tests.factories import exactly
from tests.pipeline.explain.test_against_rules import (
    GIVEN,
    SUPER_USER,
    random_acl,
    random_acls,
    write_acls,
)

TABLES = (
    "principal", "host", "resource", "host_match", "ruleset_group", "ruleset", "explain_pair",
    "explain_class_pair", "explain_ruling",
)  # fmt: skip


def options(given):
    return MaterializeOptions(
        settings=BrokerSettings(super_users=frozenset({SUPER_USER})),
        reading=exactly(KIP_1042),
        given=Given(entries=given),
        dense="never",
    )


def decide(warehouse, acls, given, *, spark=None, cluster="c", **said):
    """Publish a run; return all rows of its tables, its notes, and what changed.

    Other words are options.
    """
    with begin_run(spark, warehouse, "materialize", lock_timeout=0) as run:
        run.cluster_id = cluster
        write_acls(run, acls)
        asked = replace(options(given), **said)
        scope = take_inventory(run, asked)
        materialize(run, scope, asked)
        publish(run)
        with read_written(run.store, cluster, *TABLES, "access_change") as read:
            tables = {
                name: Counter(map(repr, read.rows(f"SELECT * FROM {name}"))) for name in TABLES
            }
            changes = read.rows(
                "SELECT principal, principal_class, resource_type, resource_name, cause, gained, "
                f"lost FROM access_change WHERE run_id = '{run.run_id}'"
            )
    return tables, run.notes, sorted(map(repr, changes))


def changed(acls, seed):
    """Remove some ACLs and add others, own and shared, of every kind of pattern."""
    random_ = random.Random(seed)
    kept = [acl for acl in acls if random_.random() > 0.08]
    known = {acl.principal for acl in acls if acl.principal.startswith("User:")}
    fresh = [random_acl(random_, 100 * seed + n) for n in range(5)]
    # No principal text that is new and no exact one: that would be another class.
    return kept + [a for a in fresh if a.principal in known and a.host in ("*", "10.0.0.1")]


@pytest.fixture
def rounds():
    """Three nights: the first, ACLs that come and go, and then topics and principals too."""
    acls = random_acls(7)
    second = changed(acls, 1)
    grown = {
        PRINCIPALS: [*GIVEN[PRINCIPALS][1:], Entry(name="User:b", origin=FILE)],
        HOSTS: GIVEN[HOSTS],
        RESOURCES: [*GIVEN[RESOURCES][2:], Entry(name="abc", resource_type="TOPIC", origin=FILE)],
    }
    return [(acls, GIVEN), (second, GIVEN), (changed(second, 2), grown)]


@pytest.mark.parametrize(
    ("rows_read_here", "nights"), [(100_000_000, 3), (1, 2)], ids=["small", "too large"]
)
def test_tasks_of_spark_write_night_after_night_what_this_process_does(
    spark, tmp_path, rounds, monkeypatch, rows_read_here, nights
):
    monkeypatch.setattr(plan, "_ROWS_READ_BACK_HERE", rows_read_here)
    for number, (acls, given) in enumerate(rounds[:nights]):
        here, notes, changes = decide(f"{tmp_path}/here", acls, given)
        there, more, same_changes = decide(
            f"{tmp_path}/spark", acls, given, spark=spark, decide_with="spark"
        )
        assert there == here
        assert same_changes == changes
        assert bool(changes) == (number > 0)
        said = [note for note in more if note not in notes]
        assert [note for note in said if "slices" in note] == said
        assert bool(said) == (rows_read_here == 1)


GLOB = replace(
    random_acls(3)[0], acl_id="first-glob", principal="User:a", host="*", pattern_type="GLOB",
    resource_type="TOPIC", resource_name="a?", operation="READ", permission_type="ALLOW",
)  # fmt: skip
RANGE = replace(GLOB, acl_id="range", pattern_type="PREFIXED", host="10.0.0.0/8")
OF_USERS = BrokerSettings(super_users=frozenset({SUPER_USER}))
SWITCHES = (
    ("without a GLOB", False, {}),
    ("the first GLOB", True, {}),
    ("no GLOB any more", False, {}),
    ("kafka", True, {"reading": AskedReading(preset="kafka")}),
    ("kip-1042", True, {"reading": AskedReading(preset="kip-1042")}),
    ("ranges", True, {"reading": AskedReading(own={"cidr_hosts": True})}),
    ("super users", True, {"settings": BrokerSettings()}),
    ("everyone", True, {"settings": replace(OF_USERS, allow_everyone=True)}),
)
"""Nights of one cluster: what is new, whether it has a GLOB alive, and what is asked for."""


@pytest.mark.slow
def test_at_the_first_glob_and_at_each_other_setting_the_tables_are_those_of_a_full_rebuild(
    tmp_path,
):
    few = {
        PRINCIPALS: GIVEN[PRINCIPALS],
        HOSTS: GIVEN[HOSTS],
        RESOURCES: [entry for entry in GIVEN[RESOURCES] if entry.name >= "*"],
    }
    plain = [acl for acl in random_acls(7) if acl.pattern_type != "GLOB"] + [RANGE]
    texts = Counter(acl.principal for acl in plain)
    spare = next(acl for acl in plain if acl.host == "*" and texts[acl.principal] > 1)
    fewer = [acl for acl in plain if acl != spare]
    nights, readings = str(tmp_path / "nights"), []
    for number, (what, has_glob, said) in enumerate(SWITCHES):
        asked = {"reading": AskedReading(), **said}
        for acls in (plain + [GLOB] * has_glob, fewer + [GLOB] * has_glob):
            tables, notes, _ = decide(nights, acls, few, **asked)
            (taken,) = (note for note in notes if note.startswith("ACLs are read"))
            as_taken = next(name for name in PRESETS if f"the preset {name} " in taken)
            exact = replace(asked["reading"], preset=as_taken)
            anew = str(tmp_path / f"anew-{number}-{len(acls)}")
            expected, *_ = decide(anew, acls, few, **{**asked, "reading": exact})
            for name in TABLES:
                assert tables[name] == expected[name], (what, name)
        readings.append(as_taken)
    assert readings == ["kafka", *["kip-1042"] * 2, "kafka", *["kip-1042"] * 4]


def test_what_another_cluster_decided_meanwhile_stays(tmp_path):
    acls, few = random_acls(7), {kind: entries[:2] for kind, entries in GIVEN.items()}
    warehouse = str(tmp_path)
    decide(warehouse, acls, few)
    expected, _, _ = decide(warehouse, random_acls(5)[:8], few, cluster="other")
    decide(warehouse, changed(acls, 1), few)
    with (
        begin_run(None, warehouse, "materialize", lock_timeout=0) as run,
        read_written(run.store, "other", *TABLES) as read,
    ):
        for name in TABLES:
            assert Counter(map(repr, read.rows(f"SELECT * FROM {name}"))) == expected[name], name


@pytest.mark.parametrize("then", ["other", None])
def test_decisions_of_other_rules_do_not_hold(tmp_path, monkeypatch, then):
    few = {kind: entries[:2] for kind, entries in GIVEN.items()}
    monkeypatch.setattr(decided, "digest_after", lambda _: then)
    decide(str(tmp_path), random_acls(3)[:4], few)
    with begin_run(None, str(tmp_path), "materialize", lock_timeout=0) as run:
        run.cluster_id = "c"
        scope = take_inventory(run, options(few))
        assert is_decided(run, scope, options(few))
        monkeypatch.undo()
        assert not is_decided(run, scope, options(few))


@pytest.mark.parametrize(
    ("levels", "hosts"),
    [
        ((30, 30), ["<any-other>"]),
        ((30, 33), ["<any-other in 10.0.0.0/8>", "<any-other>"]),
        ((33, 33), ["<any-other in 10.0.0.0/8>", "<any-other>"]),
    ],
)
def test_by_itself_a_range_decides_as_the_newest_broker_reads_it(tmp_path, levels, hosts):
    brokers = tuple(
        Broker(broker_id=n, is_registered=True, min_level=7, max_level=level, since_offset=n)
        for n, level in enumerate(levels)
    )
    asked = replace(options({}), auto_ranges=True)
    with begin_run(None, str(tmp_path), "materialize", lock_timeout=0) as run:
        run.cluster_id = "c"
        write_acls(run, [replace(random_acls(3)[0], host="10.0.0.0/8")])
        run.store.append("broker", broker_rows(Brokers(brokers=brokers), "c"))
        scope = take_inventory(run, asked)
    assert sorted(scope.host_names, reverse=True) == sorted(hosts, reverse=True)
    assert scope.semantics.cidr_hosts == (33 in levels)
    first, second = scope.inventory.notes[:2]
    assert first.startswith("ACLs are read")
    assert second.startswith("Brokers ")


def test_a_range_is_not_decided_where_no_broker_is_known_unless_that_is_said(tmp_path):
    asked = replace(options({}), auto_ranges=True)
    with begin_run(None, str(tmp_path), "materialize", lock_timeout=0) as run:
        run.cluster_id = "c"
        write_acls(run, [replace(random_acls(3)[0], host="10.0.0.0/8")])
        with pytest.raises(DataError, match="--cidr-hosts on"):
            take_inventory(run, asked)
        assert take_inventory(run, replace(asked, auto_ranges=False)).host_names == ["<any-other>"]


def test_a_broker_that_came_since_is_something_new(tmp_path):
    few = {kind: entries[:3] for kind, entries in GIVEN.items()}
    decide(str(tmp_path), random_acls(3)[:6], few)
    with begin_run(None, str(tmp_path), "materialize", lock_timeout=0) as run:
        run.cluster_id = "c"
        assert is_decided(run, take_inventory(run, options(few)), options(few))
        one = Broker(broker_id=1, is_registered=True, min_level=7, max_level=33, since_offset=9)
        run.store.append("broker", broker_rows(Brokers(brokers=(one,)), "c"))
        assert not is_decided(run, take_inventory(run, options(few)), options(few))
