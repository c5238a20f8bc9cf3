"""What who-can --prefix prints for people."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import BrokerSettings
from tests.cli.running import run
from tests.questions.query import small_warehouse as small


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    place = tmp_path_factory.mktemp("prefix") / "w"
    empty = small.acl(1, resource_type="GROUP", resource_name="", principal="User:alice")
    small.build(place, [empty], BrokerSettings())
    return lambda *words: run("--warehouse", place, "who-can", *words).stdout


def test_the_empty_name_is_visible_among_examples(table):
    shown = " ".join(table("READ", "group", "--prefix", "").split())
    assert "some: '', not " in shown


def test_where_no_principal_can_a_sentence_says_so(table):
    shown = " ".join(table("READ", "topic", "--prefix", "x").split())
    names = "topics that start with x, existing or future (0 exist today)"
    assert shown == f"No principal can READ {names}."
