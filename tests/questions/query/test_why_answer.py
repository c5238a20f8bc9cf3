"""why for people: the verdict first, then how to allow it, then the ACLs that come close."""

from __future__ import annotations

from contextlib import closing

import pytest

from aclkit.answer.document import Command, Heading, Items, Sentence
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.resource import Resource
from aclkit.model.semantics import BrokerSettings
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import why_answer
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

PAYMENTS = Resource("TOPIC", "payments")
ACLS = (
    acl(1, operation="DESCRIBE_CONFIGS"),
    acl(2, principal="User:bob"),
    acl(3, principal="User:*", host="10.0.1.1"),
)


@pytest.fixture
def ask(root):
    small.build(root, ACLS, BrokerSettings())
    published = open_warehouse(str(root))
    with closing(connect(published)) as connection:
        yield lambda principal: explain_why(
            connection, published, small.CLUSTER, principal, "READ", PAYMENTS, host="10.0.0.1"
        )


def parts_of(answer):
    return list(why_answer(answer).parts())


@pytest.mark.parametrize(
    ("principal", "verdict", "tone"),
    [("User:bob", "can", "good"), ("User:carol", "cannot", "bad")],
)
def test_the_verdict_comes_first(ask, principal, verdict, tone):
    first = parts_of(ask(principal))[0]
    assert isinstance(first, Sentence)
    assert first.text.startswith(f"{principal} {verdict} READ topic:payments ")
    assert first.tone == tone


def test_a_denied_access_has_the_command_that_allows_it(ask):
    answer = ask("User:carol")
    (command,) = (part for part in parts_of(answer) if isinstance(part, Command))
    assert command.text == kafka_acls_command(answer.least)
    assert "--allow-principal User:carol" in command.text


def test_an_allowed_access_has_no_command_and_nothing_that_comes_close(ask):
    found = parts_of(ask("User:bob"))
    assert not any(isinstance(part, Command | Heading) for part in found)


def test_only_the_principals_own_acls_and_those_for_another_host_come_close(ask):
    found = parts_of(ask("User:alice"))
    place = found.index(Heading("ACLs that come close"))
    assert isinstance(found[place + 1], Items)
    texts = [item.text for item in found[place + 1].items]
    assert len(texts) == 2
    assert any(text.startswith("ALLOW DESCRIBE_CONFIGS ") for text in texts)
    assert any(text.endswith("only from 10.0.1.1") for text in texts)
    assert not any("User:bob" in text for text in texts)
