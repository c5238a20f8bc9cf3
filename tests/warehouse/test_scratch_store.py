"""Tables of a trial stand beside those of a warehouse, and are gone after it."""

from __future__ import annotations

import pytest

from aclkit.warehouse.store import SCRATCH, Store, remove_scratch_store, scratch_store

RANGE = [("c", 1, 5, 0, "record", -1)]


def test_a_trial_has_tables_of_its_own_and_leaves_nothing(tmp_path):
    store = Store(None, str(tmp_path))
    with scratch_store(store) as trial:
        trial.append("log_range", RANGE)
        assert trial.versions == {"log_range": 0}
        assert store.versions == {}
        assert [path.name for path in tmp_path.iterdir()] == [SCRATCH]
    assert [*tmp_path.iterdir()] == []


def test_what_a_killed_run_left_of_its_trial_is_not_seen(tmp_path):
    Store(None, str(tmp_path / SCRATCH)).append("log_range", RANGE)
    with scratch_store(Store(None, str(tmp_path))) as trial:
        assert not (tmp_path / SCRATCH).exists()
        trial.append("log_range", RANGE)
        assert trial.versions == {"log_range": 0}


def test_a_trial_that_fails_leaves_nothing(tmp_path):
    def fail():
        with scratch_store(Store(None, str(tmp_path))) as trial:
            trial.append("log_range", RANGE)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [*tmp_path.iterdir()] == []


def test_commits_of_a_trial_insist_on_the_turn_of_its_run(tmp_path):
    asked = []
    store = Store(None, str(tmp_path), lambda: asked.append(1))
    with scratch_store(store) as trial:
        trial.append("log_range", RANGE)
    assert asked


def test_where_there_was_no_trial_there_is_nothing_to_remove(tmp_path):
    remove_scratch_store(Store(None, str(tmp_path / "none")).place)
    assert [*tmp_path.iterdir()] == []
