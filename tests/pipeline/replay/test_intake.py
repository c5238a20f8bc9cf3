"""A live source is checked first and asked later, at its own address."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
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
