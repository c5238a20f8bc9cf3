"""The page of what a principal can has what prefixes and globs grant, known names or none."""

from __future__ import annotations

import pytest

from tests.audit.serve.running import serving
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

ACLS = [
    acl(1, resource_type="GROUP", resource_name="app-<b>", pattern_type="PREFIXED"),
    acl(2, resource_name="pay", pattern_type="PREFIXED", operation="WRITE"),
    acl(3, resource_name="pay-x", operation="WRITE", permission_type="DENY"),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    path = tmp_path_factory.mktemp("patterns") / "warehouse"
    small.build(path, ACLS)
    with serving(path) as client:
        yield client.enter()


def table(page):
    return page.html.partition('data-name="pattern"')[2]


def test_a_page_tells_what_patterns_grant(client):
    page = client.ask("/what-can", principal="User:alice")
    assert "ACLs with a pattern: they also apply to new names" in page.text
    assert "group app-&lt;b&gt;* (prefix)" in table(page)
    assert "2: pay-x, payments; DENYs override WRITE on some names" in page.text


def test_a_type_and_a_host_narrow_them_and_a_prefix_of_topics_has_none(client):
    ask = {"principal": "User:alice", "type": "group", "host": "10.0.0.1"}
    page = client.ask("/what-can", **ask)
    assert "group app-" in table(page)
    assert "topic pay" not in table(page)
    assert "10.0.0.1" in table(page)
    assert table(client.ask("/what-can", principal="User:alice", prefix="pay-")) == ""
    assert table(client.ask("/what-can", principal="User:carol")) == ""
