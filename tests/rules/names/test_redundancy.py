"""Which ACLs stand in for another one, and for whom that has to be asked."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import KIP_1042
from aclkit.rules.names.overlap_index import OverlapIndex
from aclkit.rules.names.question import Budget
from aclkit.rules.names.redundancy import Leftover, covered_names, find_cover, find_left
from aclkit.rules.names.rows import Row, operations_to_come, rows_of
from tests.rules.names.world import acl


def others(*texts: str, budget: Budget | None = None) -> tuple[OverlapIndex, list[Row]]:
    rows = list(rows_of([acl(text, n) for n, text in enumerate(texts)], KIP_1042))
    return OverlapIndex(rows, KIP_1042, budget or Budget()), rows


def cover(row: Row, pool: OverlapIndex) -> Leftover:
    return find_cover(row, pool, operations_to_come(row.acl))


def test_principals_and_hosts_of_what_covers_hold_those_of_what_is_covered() -> None:
    for wide, is_covered in (
        ("ALLOW User:* READ PREFIXED a 10.*", True),
        ("ALLOW User:*-b READ PREFIXED a", True),
        ("ALLOW User:a-? READ PREFIXED a 10.0.0.2", False),
        ("ALLOW User:c READ PREFIXED a", False),
    ):
        pool, (row, other) = others("ALLOW User:a-b READ LITERAL ab 10.0.0.1", wide)
        found = cover(row, pool)
        assert (found.is_covered, found.by) == (is_covered, (other,) if is_covered else ())


def test_a_glob_of_principals_is_covered_where_all_that_match_it_are() -> None:
    """No principal matches the glob alone: each is one of two kinds."""
    pool, (row, *both) = others(
        "ALLOW User:a* READ LITERAL x",
        "ALLOW User:a READ LITERAL x",
        "ALLOW User:a?* READ LITERAL x",
    )
    found = cover(row, pool)
    assert found.is_covered
    assert set(found.by) == set(both)


def test_it_is_told_where_names_are_left() -> None:
    pool, rows = others("ALLOW User:x READ PREFIXED a", "ALLOW User:* DESCRIBE PREFIXED a")
    ((operation, (view, name)),) = cover(rows[0], pool).given.items()
    assert (view.who.principal.name, operation, name) == ("User:x", "READ", "a")


@pytest.mark.parametrize("is_allow", [True, False])
def test_only_those_cover_that_are_asked_to(is_allow: bool) -> None:
    pool, (row, *both) = others(
        "ALLOW User:x READ LITERAL ab", "ALLOW User:* ALL GLOB a*", "DENY User:* ALL GLOB *b"
    )
    found = find_left((row,), pool, ["READ"], allows=(is_allow,))
    assert [each.acl.is_allow for each in found.by] == [is_allow]
    pool.remove(found.by[0])
    assert not find_left((row,), pool, ["READ"], allows=(is_allow,)).is_covered
    assert set(cover(row, pool).by) == {*both} - {*found.by}


def test_beyond_the_budget_it_is_not_known() -> None:
    texts = "ALLOW User:x READ GLOB *b*a????????", "ALLOW User:x READ GLOB *a????????"
    pool, (row, other) = others(*texts, budget=Budget(per_question=60))
    assert cover(row, pool).is_covered is None
    pool, (row, other) = others(*texts)
    assert cover(row, pool).by == (other,)


def test_the_names_on_which_an_acl_changes_nothing_are_told() -> None:
    pool, (row, *_) = others(
        "ALLOW User:x READ PREFIXED q",
        "ALLOW User:* READ PREFIXED a",
        "DENY User:x ALL LITERAL b",
        "ALLOW User:x DESCRIBE LITERAL c",
    )
    pool.remove(row)
    is_decided = covered_names(row, pool)
    assert [name for name in ("a1", "b", "c", "qq") if is_decided(name)] == ["a1", "b"]
