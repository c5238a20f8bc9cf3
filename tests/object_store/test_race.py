"""Two drivers and one warehouse; `python -m tests.object_store race` does more rounds."""

from __future__ import annotations

import pytest

from tests.object_store.driver import PLAINLY
from tests.object_store.race import race

pytestmark = [pytest.mark.object_store, pytest.mark.timeout(280)]


def test_of_two_drivers_never_two_write_and_nothing_is_lost(bucket):
    told = race(bucket, rounds=15, seed=4)
    assert told.rounds.total() == 15
    assert len(told.published) >= 15
    assert told.wrong == []
    assert not [message for message in told.messages if message.startswith(PLAINLY)]
