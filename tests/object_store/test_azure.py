"""A warehouse in Azure's blobs, as Azurite keeps them: nights, kills and questions as elsewhere.

What no emulator has is not tried: Spark's own connector, which wants the hierarchical interface.
"""

from __future__ import annotations

import itertools

import pytest

from aclkit.errors import UsageError
from aclkit.runtime.reachable import require_reachable
from aclkit.warehouse.location import Location
from tests.nightly.test_nightly import FIRST_NIGHT, SECOND_NIGHT, Nights
from tests.object_store.azure import ENV, PROGRAM, make_container, start_azurite
from tests.object_store.test_nights import (
    LATER_NIGHTS,
    OFTEN_ASKED,
    PHASES,
    NightsInABucket,
    in_a_process,
    let_the_lease_end,
    seen,
)

pytestmark = [
    pytest.mark.object_store,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="make object-store-test installs Azurite"),
    pytest.mark.xdist_group("azurite"),
]

_numbers = itertools.count(1)
KNOWN = ("--fail-on", "never", "--no-super-users")


@pytest.fixture(scope="module")
def _azurite(tmp_path_factory):
    with start_azurite(tmp_path_factory.mktemp("azurite")):
        yield


@pytest.fixture
def container(_azurite, monkeypatch):
    """A new container, which this process's environment reaches."""
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    return make_container(f"tests-{next(_numbers)}")


def test_nights_in_azure_leave_the_tables_of_a_local_disk(container, tmp_path):
    (tmp_path / "here").mkdir()
    here, there = Nights(tmp_path / "here"), NightsInABucket(tmp_path, f"{container.uri}/acls")
    for number, lines in enumerate([FIRST_NIGHT, *LATER_NIGHTS[:5]]):
        for each in (here, there):
            result = each.run(*lines, options=KNOWN)
            assert result.exit_code == 0, result.output
        if number == 3:
            for each in (here, there):
                done = each.call("maintain", "--keep-days", "0", "--keep-runs", "2")
                assert done.exit_code == 0, done.output
        assert seen(there.uri) == seen(here.folder / "warehouse"), number
    asked = [each.call(*OFTEN_ASKED) for each in (here, there)]
    assert asked[0].stdout == asked[1].stdout
    assert asked[0].exit_code == asked[1].exit_code == 0


def test_a_container_that_answers_may_be_used_and_one_that_is_missing_is_named(container):
    require_reachable(f"{container.uri}/acls")
    missing = f"abfss://nowhere@{container.uri.partition('@')[2]}/acls"
    with pytest.raises(UsageError, match="at the emulator of this machine: the bucket does not"):
        require_reachable(missing)


def test_credentials_that_azure_does_not_let_in_are_told(container, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "bm9uZQ==")
    with pytest.raises(UsageError, match="these credentials are not allowed to list it"):
        require_reachable(f"{container.uri}/acls")


def test_of_two_who_put_under_a_condition_one_succeeds_in_azure(container):
    files = Location(f"{container.uri}/acls").files
    assert files.create("a", b"1")
    assert not files.create("a", b"2")
    _, tag = files.read_tagged("a")
    assert files.replace("a", b"3", tag)
    assert not files.replace("a", b"4", tag)
    assert files.read("a") == b"3"


def test_a_night_that_was_killed_in_any_phase_is_done_by_the_next_one_in_azure(container, tmp_path):
    here, uri = Nights(tmp_path), f"{container.uri}/acls"
    source = tmp_path / "records.jsonl"
    assert here.run(*FIRST_NIGHT, options=KNOWN).exit_code == 0
    assert in_a_process(uri, source, *KNOWN).returncode == 0
    before = seen(uri)
    assert before == seen(here.folder / "warehouse")
    assert here.run(*SECOND_NIGHT, options=KNOWN).exit_code == 0
    for phase in PHASES:
        killed = in_a_process(uri, source, *KNOWN, ACLKIT_FAIL_POINT=phase)
        assert killed.returncode == -9, killed.stderr
        assert seen(uri) == before, phase
        second = in_a_process(uri, source, *KNOWN)
        assert second.returncode == 4, second.stderr
        assert "Another run holds the lease" in second.stderr
        let_the_lease_end(uri)
    last = in_a_process(uri, source, *KNOWN)
    assert last.returncode == 0, last.stderr
    assert seen(uri) == seen(here.folder / "warehouse")
