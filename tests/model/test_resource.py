"""Resources as people write them."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.model.resource import TYPE_OF_WORD, Resource, parse_resource


@pytest.mark.parametrize("word", [word for word in TYPE_OF_WORD if word != "cluster"])
def test_every_type_reads_back_what_it_writes(word):
    resource = parse_resource(f"{word}:a:b")
    assert resource == Resource(TYPE_OF_WORD[word], "a:b")
    assert str(resource) == f"{word}:a:b"


@pytest.mark.parametrize("text", ["cluster", "cluster:kafka-cluster"])
def test_the_cluster_has_one_name_and_needs_none(text):
    assert parse_resource(text) == Resource("CLUSTER", "kafka-cluster")
    assert str(parse_resource(text)) == "cluster"


def test_an_empty_name_is_a_name():
    assert parse_resource("group:") == Resource("GROUP", "")


@pytest.mark.parametrize("text", ["", "orders", "topic", "Topic:a", "cluster:other", "cluster:"])
def test_anything_else_is_refused_with_the_forms_that_are_not(text):
    with pytest.raises(UsageError, match="expected cluster or one of topic:NAME"):
        parse_resource(text)
