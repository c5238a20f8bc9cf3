"""show: one page about a principal or a resource, in sections."""

from __future__ import annotations

from contextlib import closing

import pytest

from aclkit.answer.document import Facts, Heading
from aclkit.audit.reports.describe import describe_answer, describe_principal, describe_resource
from aclkit.model.resource import Resource
from aclkit.questions.query.decisions import Where
from aclkit.warehouse.duck import connect
from aclkit.warehouse.published import open_warehouse
from tests.questions.query import small_warehouse as small

KEYS = [
    "subject", "is_known", "is_super_user", "access", "acls", "findings", "unknown_settings",
    "unread_parts",
]  # fmt: skip


@pytest.fixture
def where(tmp_path):
    small.build(tmp_path / "w")
    published = open_warehouse(str(tmp_path / "w"))
    with closing(connect(published)) as connection:
        yield Where(connection, published, small.CLUSTER)


def headings(found):
    return [part.text for part in describe_answer(found).parts() if isinstance(part, Heading)]


def facts(found):
    parts = describe_answer(found).parts()
    return dict(next(part.facts for part in parts if isinstance(part, Facts)))


def test_a_principal_has_its_sections(where):
    found = describe_principal(where, "User:bob")
    assert headings(found) == ["User:bob", "Findings", "Access", "ACLs that name it"]
    assert facts(found)["ACLs"] == "2, of which 1 DENY"


def test_a_resource_has_its_sections(where):
    found = describe_resource(where, Resource("TOPIC", "payments"))
    assert headings(found) == ["topic:payments", "Findings", "Access", "ACLs that apply to it"]


def test_a_name_that_does_not_exist_is_told_first(where):
    assert facts(describe_principal(where, "User:new"))["exists"] == (
        "no; this is what would apply"
    )


def test_programs_have_the_same_keys_of_both(where):
    for found in (
        describe_principal(where, "User:bob"),
        describe_resource(where, Resource("TOPIC", "payments")),
    ):
        assert list(dict(describe_answer(found).json())) == KEYS
