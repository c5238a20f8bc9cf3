"""300 random ACL sets with ranges, decided by Spark and by Kafka 4.4.0: decisions and deciders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.host import parse_host
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.rules import MATCHING_ACL
from tests.factories import request
from tests.kafka_answers import SETS_WITH_RANGES, read_worlds
from tests.pipeline.explain.folded import decide_by_spark, fold_acl, fold_name, take_scope
from tests.rules.decide.test_kafka_cidr import KAFKA_4_4


def worlds_of(super_users, allow_everyone, most):
    """The ACLs of the first sets with these settings, what is asked, and what Kafka answered."""
    settings = BrokerSettings(super_users=super_users, allow_everyone=allow_everyone)
    worlds = enumerate(read_worlds(SETS_WITH_RANGES))
    chosen = [(number, *each) for number, each in worlds if each[1] == settings][:most]
    acls, asked, answers = [], [], []
    for number, own, _, row in chosen:
        acls += [
            fold_acl(number, replace(each, acl_id=f"{number}-{at}")) for at, each in enumerate(own)
        ]
        for principal, host, operation, kind, name, decision, by in row["queries"]:
            fields = {"principal": principal, "host": parse_host(host), "operation": operation}
            asked.append(request(fold_name(number, name), resource_type=kind, **fields))
            is_acl = isinstance(by, int)
            rule, acl_id = (MATCHING_ACL, f"{number}-{by}") if is_acl else (by, None)
            answers.append((decision, rule, acl_id))
    return settings, acls, asked, answers


def differing(spark, place, *which):
    """Return how many decisions were compared, and those that are not Kafka's."""
    settings, acls, asked, answers = worlds_of(*which)
    scope = take_scope(acls, asked, settings, KAFKA_4_4)
    allow_everyone = settings.allow_everyone
    found = decide_by_spark(spark, place, acls, asked, scope, allow_everyone=allow_everyone)
    compared = list(zip(asked, found, answers, strict=True))
    return len(compared), [case for case in compared if case[1] != case[2]]


SETTINGS = pytest.mark.parametrize(
    ("super_users", "allow_everyone", "sets"),
    [((), False, 97), ((), True, 50), (("User:admin",), False, 101), (("User:admin",), True, 52)],
)
"""Those that the sets have, and how many have each of them: 300 in all."""


@SETTINGS
def test_folded_sets_are_decided_as_each_alone(super_users, allow_everyone, sets):
    """The pure rule: what Spark is then asked about is what Kafka was."""
    settings, acls, asked, answers = worlds_of(frozenset(super_users), allow_everyone, None)
    index = AclIndex.of(acls, KAFKA_4_4)
    rulings = [index.decide(each, settings) for each in asked]
    found = [(r.decision, r.rule, r.acl.acl_id if r.acl else None) for r in rulings]
    assert len(found) == 40 * sets
    assert found == answers


@SETTINGS
def test_60_sets_are_decided_as_by_kafka(spark, tmp_path, super_users, allow_everyone, sets):
    found = differing(spark, tmp_path, frozenset(super_users), allow_everyone, 15)
    assert found == (40 * 15, [])


@pytest.mark.slow
@SETTINGS
def test_all_sets_are_decided_as_by_kafka(spark, tmp_path, super_users, allow_everyone, sets):
    found = differing(spark, tmp_path, frozenset(super_users), allow_everyone, None)
    assert found == (40 * sets, [])
