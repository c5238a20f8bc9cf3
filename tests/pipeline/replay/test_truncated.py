"""What a real broker kept of its log tells all since its oldest snapshot."""

from __future__ import annotations

from aclkit.pipeline.replay.ranges import Stretch
from tests.truncated import files_of, lives_since, way_through

TRUNCATED, WHOLE = files_of("truncated"), files_of("whole")
OLDEST, NEWEST, HEAD = 2015, 2417, 2621


def test_the_way_goes_from_the_oldest_snapshot_along_the_log():
    way = way_through(TRUNCATED)
    assert way.stretches == (Stretch("snapshot", 0, OLDEST), Stretch("record", OLDEST, HEAD))
    assert way.checks == (NEWEST,)
    assert way.bridged == ((0, OLDEST),)
    assert way_through(WHOLE).stretches == (Stretch("record", 0, HEAD),)


def test_its_history_is_that_of_the_whole_log():
    whole = lives_since(WHOLE, OLDEST)
    assert lives_since(TRUNCATED, OLDEST) == whole
    ended = {life for life in whole if life[2] is not None}
    assert len(ended) > 100
    assert len(whole - ended) > 100


def test_the_newest_snapshot_alone_would_have_lost_what_happened_between_the_two():
    newest = {n: c for n, c in TRUNCATED.items() if str(OLDEST) not in n}
    assert len(newest) == len(TRUNCATED) - 1
    lost = lives_since(TRUNCATED, OLDEST) - lives_since(newest, OLDEST)
    assert len(lost) > 100
