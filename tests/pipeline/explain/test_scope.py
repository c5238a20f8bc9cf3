"""How large a materialize is, and over how many parts it is spread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.survey import Texts
from tests.factories import acl
from tests.pipeline.explain.frames import scope_of


def sized(principals: int, resources: int, patterns: int = 1, acls: int = 1) -> Scope:
    """A scope of so many things; which ones they are does not matter."""
    scope = scope_of([acl()], principals=("User:a",), resources=(("TOPIC", "t"),))
    some = scope.inventory
    inventory = replace(
        some, principals=some.principals * principals, resources=some.resources * resources
    )
    every = scope.texts.patterns * patterns
    texts = Texts(patterns=every, principals=(), hosts=(), counts=(acls,))
    return replace(scope, inventory=inventory, texts=texts)


def test_pairs_are_principals_times_resources():
    assert sized(3, 5).pairs == 15


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        ((1, 1), 1),
        ((1_000, 799), 1),
        ((1_000, 800), 2),
        ((1_000, 6_400), 16),
        ((1_000, 64_000), 16),
        ((1_000, 68_000), 17),
        ((100_000, 20_000), 500),
        ((1, 1, 59_999), 2),
        ((1, 1, 60_000), 3),
        ((1_000, 1_200, 40_000), 3),
        ((1, 1, 1, 599_999), 1),
        ((1, 1, 1, 600_000), 2),
    ],
)
def test_what_is_large_in_pairs_patterns_or_acls_is_spread_over_more_parts(size, parts):
    assert sized(*size).partitions == parts


@pytest.mark.parametrize(("resources", "parts"), [(6_400, 16), (68_000, 17), (2_000_000, 64)])
def test_rulesets_are_spread_over_at_most_64_parts(resources, parts):
    assert sized(1_000, resources).shuffled_over == parts


def test_names_stand_in_the_order_of_their_numbers():
    scope = scope_of([acl()], principals=("User:b", "User:a"), hosts=("2", "1"))
    assert scope.principal_names == ["User:b", "User:a"]
    assert scope.host_names == ["2", "1", "<any-other>"]
