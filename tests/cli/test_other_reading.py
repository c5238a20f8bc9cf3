"""What commands say where KIP-1042 and Kafka's own reading of the ACLs come to other decisions."""

from __future__ import annotations

import json
from functools import partial

import pytest

from aclkit.kafka.acls.text import render_list
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from tests.cli.running import run
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

SERVICES = acl(1, resource_name="orders", principal="User:c*")
PLAIN = acl(2, resource_name="payments", principal="User:bob")
GLOB = acl(3, resource_name="pay?", pattern_type="GLOB", principal="User:bob")
KIP = "Under KIP-1042 (no Kafka release yet)"
KAFKAS = "By Kafka's own reading (--semantics kafka)"
ORDERS = "ALLOW READ on topic orders for User:c* from any host"
WOULD_ALLOW = f"{KIP} this would be allowed: {ORDERS}."
CAROL = ("User:carol", "READ", "topic:orders")


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """One cluster, decided by either reading."""
    found = {}
    for name, semantics in (("kafka", KAFKA), ("kip-1042", KIP_1042)):
        found[name] = tmp_path_factory.mktemp(name) / "w"
        small.build(found[name], [SERVICES, PLAIN], BrokerSettings(), semantics)
    return found


@pytest.fixture
def kafka(roots):
    return partial(run, "--warehouse", roots["kafka"])


@pytest.fixture
def kip(roots):
    return partial(run, "--warehouse", roots["kip-1042"])


def flat(text):
    return " ".join(text.split())


def test_why_says_that_the_other_reading_allows_what_is_denied(kafka):
    assert WOULD_ALLOW in flat(kafka("why", *CAROL).stdout)
    answer = json.loads(kafka("why", *CAROL, "--format", "json").stdout)
    (other,) = answer["other_reading"]
    assert (answer["decision"], other["decision"], other["preset"]) == (
        "DENIED", "ALLOWED", "kip-1042",
    )  # fmt: skip
    assert other["acl_id"] == SERVICES.acl_id
    assert WOULD_ALLOW in kafka("why", *CAROL, "--format", "csv").stderr


def test_why_says_that_brokers_deny_what_kip_1042_allows(kip):
    said = flat(kip("why", *CAROL).stdout)
    assert f"{KAFKAS} this would be denied: no ACL allows it." in said


def test_nothing_is_said_where_both_readings_decide_alike(kafka, kip):
    for ask in (kafka, kip):
        for words in (("why", "User:bob", "READ", "topic:payments"),
                      ("who-can", "READ", "topic:payments")):  # fmt: skip
            result = ask(*words)
            assert KIP not in result.output
            assert KAFKAS not in result.output
        (row,) = json.loads(ask("who-can", "READ", "topic:payments", "--format", "json").stdout)
        assert row["other_reading"] is None


def test_who_can_names_the_principals_that_the_other_reading_decides_otherwise_for(kafka, kip):
    said = f"{KIP} User:carol would be allowed ({ORDERS})."
    assert said in flat(kafka("who-can", "READ", "topic:orders").stdout)
    assert said in kafka("who-can", "READ", "topic:orders", "--format", "csv").stderr
    said = f"{KAFKAS} User:carol would be denied (no ACL allows it)."
    assert said in flat(kip("who-can", "READ", "topic:orders").stdout)
    rows = json.loads(kip("who-can", "READ", "topic:orders", "--format", "json").stdout)
    assert {row["other_reading"] for row in rows} == {said}


ADD = ("preview", "add-acl", "--operation", "Write", "--topic", "orders", "--allow-principal")


def test_a_preview_says_what_the_change_does_in_the_other_reading(kafka):
    result = kafka(*ADD, "User:c*")
    other = f"{KIP}: 1 to gain, 0 to lose. Accesses of known names: 4 gained"
    assert f"{other} (1 principal, 1 resource)." in flat(result.stdout)
    found = json.loads(kafka(*ADD, "User:c*", "--format", "json").stdout)
    # User:carol in the one reading, the principal User:c* in the other.
    assert {row["principal"] for row in found["gained"]} == {"User:c*"}
    other = found["other_reading"]
    assert (other["preset"], other["gained"]) == ("kip-1042", len(small.HOSTS))


def test_a_preview_says_nothing_of_a_change_that_both_readings_take_alike(kafka):
    found = json.loads(kafka(*ADD, "User:bob", "--format", "json").stdout)
    assert found["other_reading"] is None


def test_a_preview_of_a_topic_says_whom_the_other_reading_lets_do_more(roots, tmp_path):
    glob = acl(4, resource_name="new.", pattern_type="PREFIXED", principal="User:c*")
    small.build(tmp_path / "w", [glob], BrokerSettings(), KAFKA)
    ask = partial(run, "--warehouse", tmp_path / "w", "preview", "add-topic", "new.a")
    reason = "ALLOW READ on topic new.* (prefix) for User:c* from any host"
    said = f"{KIP} User:carol would be allowed ({reason})."
    assert said in flat(ask().stdout)
    (topic,) = json.loads(ask("--format", "json").stdout)["topics"]
    assert topic["other_reading"] == said


def test_a_preview_warns_of_the_first_glob_and_reads_both_sides_alike(kafka, kip, tmp_path):
    wanted = tmp_path / "wanted.txt"
    wanted.write_text("\n".join(render_list([SERVICES, PLAIN, GLOB])), encoding="utf-8")
    first = (
        "warning: the second state brings the first GLOB ACL: ALLOW READ on topic pay? (glob) for "
        "User:bob from any host. "
    )
    result = kafka("preview", "apply", wanted)
    assert first in result.stderr
    assert "Both sides are read as Kafka does here, so that GLOB is a prefix." in result.stderr
    result = kip("preview", "apply", wanted)
    assert first in result.stderr
    assert "Both sides are read by KIP-1042 here." in result.stderr
    assert "brings the first GLOB" not in kip(*ADD, "User:bob").stderr
