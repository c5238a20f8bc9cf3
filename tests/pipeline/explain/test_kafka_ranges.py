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
from tests.pipeline.explain.folded import decide_by_kernel, fold_acl, fold_name, take_scope
from tests.rules.decide.test_kafka_cidr import KAFKA_4_4

ADMIN, NO_ADMIN = "User:admin", "User:admin_"
"""Who is a super user where a set has one; and in sets without one the name of the same principal,
which nobody's name lies between: so sets with and without one are decided at once."""
SETS = {(False, ()): 97, (False, (ADMIN,)): 101, (True, ()): 50, (True, (ADMIN,)): 52}
"""How many sets there are with allow.everyone and super users as here: 300 in all."""
SETTINGS = pytest.mark.parametrize("allow_everyone", [False, True])


def worlds_of(allow_everyone, super_users, most):
    """The ACLs of the first sets with these settings, what is asked, and what Kafka answered."""
    settings = BrokerSettings(super_users=frozenset(super_users), allow_everyone=allow_everyone)
    worlds = enumerate(read_worlds(SETS_WITH_RANGES))
    chosen = [(number, *each) for number, each in worlds if each[1] == settings][:most]
    names = {} if super_users else {ADMIN: NO_ADMIN}
    acls, asked, answers = [], [], []
    for number, own, _, row in chosen:
        for at, each in enumerate(own):
            who = names.get(each.principal, each.principal)
            acls.append(fold_acl(number, replace(each, acl_id=f"{number}-{at}", principal=who)))
        for principal, host, operation, kind, name, decision, by in row["queries"]:
            who = names.get(principal, principal)
            fields = {"principal": who, "host": parse_host(host), "operation": operation}
            asked.append(request(fold_name(number, name), resource_type=kind, **fields))
            is_acl = isinstance(by, int)
            rule, acl_id = (MATCHING_ACL, f"{number}-{by}") if is_acl else (by, None)
            answers.append((decision, rule, acl_id))
    return acls, asked, answers


def all_worlds_of(allow_everyone, most):
    """The sets with and without a super user in one, and the settings of both."""
    settings = BrokerSettings(super_users=frozenset({ADMIN}), allow_everyone=allow_everyone)
    both = [worlds_of(allow_everyone, users, most) for users in ((), (ADMIN,))]
    return settings, *[first + second for first, second in zip(*both, strict=True)]


def differing(place, allow_everyone, most):
    """Return how many decisions were compared, and those that are not Kafka's."""
    settings, acls, asked, answers = all_worlds_of(allow_everyone, most)
    scope = take_scope(acls, asked, settings, KAFKA_4_4)
    found = decide_by_kernel(place, acls, asked, scope, allow_everyone=allow_everyone)
    compared = list(zip(asked, found, answers, strict=True))
    return len(compared), [case for case in compared if case[1] != case[2]]


@pytest.mark.parametrize(("allow_everyone", "super_users"), SETS)
def test_every_set_is_there_and_no_name_lies_between(allow_everyone, super_users):
    acls, asked, _ = worlds_of(allow_everyone, super_users, None)
    assert len(asked) == 40 * SETS[allow_everyone, super_users]
    named = {each.principal for each in (*acls, *asked)}
    assert not [name for name in named if ADMIN < name < NO_ADMIN]
    assert {ADMIN, NO_ADMIN} & named == {ADMIN if super_users else NO_ADMIN}


@SETTINGS
def test_folded_sets_are_decided_as_each_alone(allow_everyone):
    """The pure rule: what Spark is then asked about is what Kafka was."""
    settings, acls, asked, answers = all_worlds_of(allow_everyone, None)
    index = AclIndex.of(acls, KAFKA_4_4)
    rulings = [index.decide(each, settings) for each in asked]
    assert [(r.decision, r.rule, r.acl.acl_id if r.acl else None) for r in rulings] == answers


@SETTINGS
def test_30_sets_are_decided_as_by_kafka(tmp_path, allow_everyone):
    assert differing(tmp_path, allow_everyone, 15) == (40 * 30, [])


@pytest.mark.slow
@SETTINGS
def test_all_sets_are_decided_as_by_kafka(tmp_path, allow_everyone):
    sets = SETS[allow_everyone, ()] + SETS[allow_everyone, (ADMIN,)]
    assert differing(tmp_path, allow_everyone, None) == (40 * sets, [])
