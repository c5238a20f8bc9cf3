"""A live source is checked first and asked later, at its own address."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.pipeline.replay.intake import Source, ask_live, has_acl, listing_now, look_at
from tests.pipeline.sources.fake_broker import fake_broker

READ = (2, "orders", 3, "User:alice", "*", 3, 3)


def test_a_live_source_is_asked_when_the_lock_is_held_and_not_before():
    with fake_broker([READ]) as broker:
        intake = look_at([Source("live", broker.bootstrap)])
        assert intake.listing is None
        asked = ask_live(intake)
    assert has_acl(asked.listing)
    assert listing_now(asked) is asked


def test_a_live_source_without_a_port_is_refused_before_anybody_is_asked():
    with pytest.raises(UsageError, match="broker"):
        look_at([Source("live", "broker")])


HEADER = (
    "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, "
    "patternType=LITERAL)`:\n"
)
ENTRY = "\t(principal=User:{}, host=*, operation=READ, permissionType={})\n"


@pytest.fixture
def listing(tmp_path):
    def written(text):
        path = tmp_path / "acls.txt"
        path.write_text(text, encoding="utf-8")
        return [Source("acls-list", str(path))]

    return written


def test_a_listing_with_a_line_that_cannot_be_used_is_no_whole_state(listing):
    half = listing(HEADER + ENTRY.format("a", "ALLOW") + ENTRY.format("b", "ALLOV"))
    with pytest.raises(DataError, match=r"1 line of the listing cannot be used.*line 3: unknown"):
        look_at(half)
    with pytest.raises(DataError, match="pass --accept-holes"):
        look_at(half, allow_empty=True)
    assert has_acl(look_at(half, accept_holes=True).listing)


@pytest.mark.parametrize("accept_holes", [True, False])
def test_allow_empty_does_not_hold_where_lines_were_refused(listing, accept_holes):
    refused = listing(HEADER + ENTRY.format("b", "ALLOV"))
    with pytest.raises(DataError, match=r"found none that can be used\. 1 line cannot be used"):
        look_at(refused, allow_empty=True, accept_holes=accept_holes)


def test_allow_empty_holds_where_there_is_no_line(listing):
    assert look_at(listing("\n"), allow_empty=True).listing.rows == ()
