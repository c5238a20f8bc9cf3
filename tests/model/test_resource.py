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


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "'' has no name. Did you mean topic:NAME?"),
        ("orders", "'orders' has no resource type. Did you mean topic:orders?"),
        ("topic", "'topic' has no name. Did you mean topic:NAME?"),
        ("Topic:a", "'Topic' is not a resource type. Did you mean topic:a?"),
        ("cluster:other", "'cluster:other' is not a resource. Did you mean cluster?"),
        ("cluster:", "'cluster:' is not a resource. Did you mean cluster?"),
    ],
)
def test_anything_else_is_refused_with_the_resource_that_is_likely_meant(text, wrong):
    with pytest.raises(UsageError) as caught:
        parse_resource(text)
    assert str(caught.value) == wrong
