"""What a watcher notes beside the tables: whole or not at all, and never in a question's way."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.warehouse.location import Location
from aclkit.warehouse.published import AsOf
from aclkit.warehouse.watch_state import write_state
from aclkit.warehouse.watched import CHECKED, FOLDER, checked_at, read_state

WHEN = "2026-11-27T00:00:00.000Z"


@pytest.fixture
def place(tmp_path):
    return Location(str(tmp_path))


def test_what_was_written_is_read(place):
    state = {"c": {"checked_at": WHEN, "run_id": "r"}, "d": {"x": [1]}}
    write_state(place, CHECKED, state)
    write_state(place, CHECKED, state)
    assert read_state(place, CHECKED) == state
    assert [p.name for p in (place.folder / FOLDER).iterdir()] == [CHECKED]


def test_new_files_are_readable_for_the_users_who_can_read_the_tables(place):
    (place.folder / "job_run").mkdir(mode=0o750)
    write_state(place, CHECKED, {})
    mode = stat.S_IMODE((place.folder / FOLDER / CHECKED).stat().st_mode)
    assert not mode & stat.S_IROTH


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"clusters": 1}', '{"clusters": {"c": 1}}']
)
def test_a_malformed_file_knows_nothing(place, text):
    (place.folder / FOLDER).mkdir()
    (place.folder / FOLDER / CHECKED).write_text(text, encoding="utf-8")
    assert read_state(place, CHECKED) == {}
    assert checked_at(place, "c", "r") is None


def test_a_check_counts_for_the_run_that_it_was_of(place):
    write_state(place, CHECKED, {"c": {"checked_at": WHEN, "run_id": "r"}})
    assert checked_at(place, "c", "r") == datetime(2026, 11, 27, tzinfo=UTC)
    assert checked_at(place, "c", "other") is None
    assert checked_at(place, "d", "r") is None


@given(value=st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers())))
def test_a_time_that_is_none_is_no_check(tmp_path_factory, value):
    place = Location(str(tmp_path_factory.mktemp("state")))
    (place.folder / FOLDER).mkdir()
    said = {"clusters": {"c": {"run_id": "r", "checked_at": value}}}
    (place.folder / FOLDER / CHECKED).write_text(json.dumps(said), encoding="utf-8")
    found = checked_at(place, "c", "r")
    assert found is None or found.tzinfo is not None


def test_an_answer_is_as_old_as_the_last_check():
    now = datetime.now(UTC)
    old, hour = now - timedelta(days=3), timedelta(hours=1)
    assert AsOf(old, 1).is_older(hour)
    assert not AsOf(old, 1, now).is_older(hour)
    assert AsOf(old, 1, now - 2 * hour).is_older(hour)
    assert not AsOf(now, 1, old).is_older(hour), "a check of before the run"
    assert not AsOf(None, 1, old).is_older(hour)


def test_the_words_name_run_and_check():
    time = datetime(2026, 11, 26, 8, 13, tzinfo=UTC)
    assert str(AsOf(time, 1020)) == "as of 2026-11-26 08:13 UTC, offset 1020"
    said = str(AsOf(time, 1020, time + timedelta(hours=1)))
    assert said == "as of 2026-11-26 08:13 UTC, offset 1020, checked 2026-11-26 09:13 UTC"
