"""Which cluster a source is about, and which sources a cluster refuses."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.model.facts import ADD_ACL, LISTING, RECORD, SourceRow
from aclkit.pipeline.replay.cluster import require_not_empty, require_same_kind, resolve_cluster
from aclkit.pipeline.replay.intake import Intake, Source
from aclkit.pipeline.replay.spans import Range
from aclkit.pipeline.sources.listing import Listing

LOG = Intake(sources=(Source("metadata-log", "log"),))
LIST = Intake(sources=(Source("acls-list", "list"),), listing=Listing(rows=()))
NOTHING = Intake(sources=())
FOLLOWS_LOG, FOLLOWS_LISTINGS = [Range(0, 5, 1, RECORD)], [Range(0, 1, None, LISTING)]
WRITTEN = [Range(0, 5, None, RECORD)]


def of(*names: str) -> Intake:
    return Intake(sources=LOG.sources, cluster_ids=frozenset(names))


@pytest.mark.parametrize(
    ("known", "own", "given", "cluster"),
    [
        ((), (), None, "default"),
        (("a",), (), None, "a"),
        (("a",), ("a",), None, "a"),
        ((), ("b",), None, "b"),
        (("a",), ("b",), "b", "b"),
        (("a", "b"), (), "c", "c"),
    ],
)
def test_a_cluster_is_the_one_given_or_the_source_s_own_or_the_only_one(known, own, given, cluster):
    assert resolve_cluster(known, of(*own), given) == cluster


@pytest.mark.parametrize(
    ("known", "own", "given", "error"),
    [
        ((), ("a",), "b", DataError),
        (("a",), ("b",), None, DataError),
        (("a", "b"), (), None, UsageError),
        ((), (), "bad name", UsageError),
    ],
)
def test_what_contradicts_itself_or_leaves_a_choice_is_refused(known, own, given, error):
    with pytest.raises(error):
        resolve_cluster(known, of(*own), given)


def require(known, intake, *, is_forgetting=False):
    require_same_kind("c", known, intake, lambda: 5, is_forgetting=is_forgetting)


@pytest.mark.parametrize(
    ("known", "intake"),
    [([], LOG), ([], LIST), (FOLLOWS_LOG, LOG), (FOLLOWS_LISTINGS, LIST), (FOLLOWS_LOG, NOTHING)],
)
def test_a_cluster_takes_sources_of_the_kind_that_it_follows(known, intake):
    require(known, intake)


@pytest.mark.parametrize(
    ("known", "intake", "error", "told"),
    [
        (FOLLOWS_LOG, LIST, DataError, "has followed a log since its first replay"),
        (FOLLOWS_LISTINGS, LOG, DataError, "has followed listings since its first replay"),
        (WRITTEN, LOG, DataError, "was written with acls add and has no source"),
        (WRITTEN, NOTHING, UsageError, "To remove these ACLs: aclkit acls remove"),
    ],
)
def test_a_cluster_refuses_sources_of_another_kind_and_any_where_it_follows_none(
    known, intake, error, told
):
    with pytest.raises(error, match=told):
        require(known, intake)


def test_a_listing_is_not_entered_where_something_is_forgotten():
    require(FOLLOWS_LOG, LOG, is_forgetting=True)
    with pytest.raises(UsageError, match="First run --forget without a source"):
        require(FOLLOWS_LISTINGS, LIST, is_forgetting=True)


def test_an_empty_listing_takes_no_acls_away_unless_that_is_allowed():
    require_not_empty("c", LIST, [])
    row = SourceRow(kind="fact", source="list", record_type=ADD_ACL)
    require_not_empty("c", Intake(sources=(), listing=Listing(rows=(row,))), ["a"])
    require_not_empty("c", Intake(sources=(), listing=Listing(rows=()), allow_empty=True), ["a"])
    with pytest.raises(DataError, match="list lists no ACL"):
        require_not_empty("c", LIST, ["a"])
