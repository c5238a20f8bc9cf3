"""Random ACL sets that Kafka answered, decided by the kernel: decisions, rules and deciders."""

from __future__ import annotations

import pytest

from aclkit.model.host import parse_host
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA
from aclkit.rules.decide.rules import MATCHING_ACL
from tests.factories import request
from tests.kafka_answers import SETS, SETS_WITH_RANGES, read_worlds
from tests.pipeline.explain.systems import decide_by_kernel, take_scope
from tests.rules.decide.test_kafka_cidr import KAFKA_4_4

CASES = {"kafka-4.3": (SETS, KAFKA), "kafka-4.4": (SETS_WITH_RANGES, KAFKA_4_4)}
"""The file of the sets, and how ACLs are read. Requests for an operation that the type does not
know are left out: they are not decided beforehand."""


def differing(case, sets):
    """Return how many decisions were compared, and those that are not Kafka's."""
    path, semantics = CASES[case]
    compared = []
    for acls, settings, row in read_worlds(path)[sets]:
        asked, answers = [], []
        for principal, host, operation, kind, name, decision, by in row["queries"]:
            if operation in OPERATIONS_OF_TYPE[kind]:
                fields = {"principal": principal, "host": parse_host(host), "operation": operation}
                asked.append(request(name, resource_type=kind, **fields))
                is_acl = isinstance(by, int)
                rule, acl_id = (MATCHING_ACL, acls[by].acl_id) if is_acl else (by, None)
                answers.append((decision, rule, acl_id))
        scope = take_scope(acls, asked, settings, semantics)
        everyone = settings.allow_everyone
        found = decide_by_kernel(acls, asked, scope, allow_everyone=everyone)
        compared += zip(asked, found, answers, strict=True)
    return len(compared), [each for each in compared if each[1] != each[2]]


@pytest.mark.parametrize(("case", "requests"), [("kafka-4.3", 563), ("kafka-4.4", 1_200)])
def test_30_sets_are_decided_as_by_kafka(case, requests):
    assert differing(case, slice(30)) == (requests, [])


@pytest.mark.slow
@pytest.mark.parametrize(("case", "requests"), [("kafka-4.3", 5_500), ("kafka-4.4", 12_000)])
def test_all_sets_are_decided_as_by_kafka(case, requests):
    assert differing(case, slice(None)) == (requests, [])
