"""One run per warehouse at a time, on an object store."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from aclkit.errors import DataError, SurroundingsError
from aclkit.runtime.storage_settings import single_writer_assumed
from aclkit.warehouse.lease import LEASE, hold, require_conditional_puts
from tests.warehouse.object_store import ObjectStore

SHORT = timedelta(seconds=0.6)


class Flaky(ObjectStore):
    """An object store that may not answer: not at all, or behind a put that it has done."""

    is_silent = answers_are_lost = False

    def read_tagged(self, path):
        if self.is_silent:
            raise OSError("no answer")
        return super().read_tagged(path)

    def create(self, path, content):
        done = super().create(path, content)
        return self._answer(done)

    def replace(self, path, content, tag):
        if self.is_silent:
            raise OSError("no answer")
        return self._answer(super().replace(path, content, tag))

    def _answer(self, done):
        if self.answers_are_lost:
            raise OSError("the answer was lost")
        return done


def take(storage, timeout=0, fence=lambda: None, term=SHORT):
    return hold(storage, "s3a://w", timeout, fence, term)


def killed_now():
    """What the file says of a run that was killed just now."""
    until = (datetime.now(UTC) + SHORT).isoformat()
    return json.dumps({"number": 7, "owner": "killed", "until": until}).encode()


def said(storage):
    return json.loads(storage.read(LEASE))


def test_a_lease_is_renewed_for_as_long_as_the_run_takes():
    storage = ObjectStore()
    with take(storage) as require_held:
        ended = time.monotonic() + 3 * SHORT.total_seconds()
        while time.monotonic() < ended:
            with (
                pytest.raises(SurroundingsError, match="holds the lease of s3a://w"),
                take(storage),
            ):
                pass
            time.sleep(0.05)
        require_held()
    with take(storage):
        pass


def test_every_turn_has_a_number_of_its_own_and_is_given_back():
    storage = ObjectStore()
    numbers = []
    for _ in range(3):
        with take(storage):
            numbers.append(said(storage)["number"])
        assert said(storage)["owner"] == ""
    assert numbers == [1, 2, 3]


def test_of_many_who_want_a_lease_one_gets_it():
    storage = ObjectStore()
    for _ in range(5):

        def try_it(_):
            try:
                with take(storage, term=timedelta(minutes=1)):
                    time.sleep(0.2)
            except SurroundingsError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(try_it, range(8))) == 1


def test_a_killed_runs_lease_ends_by_itself_and_its_tables_are_fenced():
    storage, fenced = ObjectStore(), []
    storage.create(LEASE, killed_now())
    with take(storage, 30, lambda: fenced.append(said(storage)["number"])) as require_held:
        require_held()
    assert fenced == [8]


def test_a_turn_whose_fence_failed_is_not_given_back_so_that_the_next_one_makes_it():
    storage, fenced = ObjectStore(), []
    storage.create(LEASE, killed_now())

    def fail():
        raise SurroundingsError("no answer")

    with pytest.raises(SurroundingsError, match="no answer"), take(storage, 30, fail):
        pass
    with take(storage, 30, lambda: fenced.append(1)):
        pass
    assert fenced == [1]


def test_nothing_is_fenced_where_nobody_was_before_or_the_turn_was_given_back():
    storage, fenced = ObjectStore(), []
    for _ in range(2):
        with take(storage, 0, lambda: fenced.append(1)):
            pass
    assert fenced == []


def test_losing_the_lease_ends_the_run_with_exit_code_4():
    storage = ObjectStore()
    with take(storage, term=timedelta(minutes=1)) as require_held:
        content, tag = storage.read_tagged(LEASE)
        other = {**json.loads(content), "owner": "somebody else", "number": 2}
        assert storage.replace(LEASE, json.dumps(other).encode(), tag)
        with pytest.raises(SurroundingsError, match="took over the lease of s3a://w") as lost:
            require_held()
    assert lost.value.exit_code == 4
    assert said(storage) == other


def test_a_lease_that_was_removed_is_held_no_longer():
    storage = ObjectStore()
    with take(storage, term=timedelta(minutes=1)) as require_held:
        storage.delete(LEASE)
        with pytest.raises(SurroundingsError, match="took over the lease"):
            require_held()


def test_a_renewal_that_fails_is_tried_again():
    storage = Flaky()
    with take(storage) as require_held:
        storage.is_silent = True
        time.sleep(SHORT.total_seconds() * 1.2)
        with pytest.raises(SurroundingsError, match="Cannot request the lease"):
            require_held()
        storage.is_silent = False
        require_held()


def test_a_put_whose_answer_was_lost_is_recognised():
    storage = Flaky()
    storage.answers_are_lost = True
    with take(storage) as require_held:
        require_held()
        time.sleep(SHORT.total_seconds() * 1.2)
        require_held()
    storage.answers_are_lost = False
    with take(storage):
        pass


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"number": 1, "owner": "a", "until": "x"}',
     '{"number": 1, "owner": "a", "until": "2026-01-01T00:00:00"}'],
)  # fmt: skip
def test_a_file_that_says_no_turn_is_told_with_the_next_step(content):
    storage = ObjectStore()
    storage.create(LEASE, content.encode())
    with pytest.raises(DataError, match="If no run is active, remove it"), take(storage):
        pass


class Careless(ObjectStore):
    """A store that puts whatever the condition."""

    def create(self, path, content):
        self._put(path, content)
        return True


def test_a_store_that_looks_at_no_condition_is_refused():
    with pytest.raises(SurroundingsError, match="--assume-single-writer"):
        require_conditional_puts(Careless(), "s3a://w")
    with single_writer_assumed(True):
        require_conditional_puts(Careless(), "s3a://w")


def test_the_trial_of_a_store_leaves_nothing():
    storage = ObjectStore()
    require_conditional_puts(storage, "s3a://w")
    assert storage.list("") == []
