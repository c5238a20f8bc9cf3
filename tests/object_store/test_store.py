"""The bench itself: one writer of several wins, faults are seen, counts and the clock are true."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import obstore
import pytest
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    GenericError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from tests.object_store.bench import start_store
from tests.object_store.faults import KINDS
from tests.object_store.server import KEY

ONCE = {"max_retries": 0, "retry_timeout": timedelta(seconds=10)}


def connect(bucket, **more):
    """Return the bucket to a client that tries everything once."""
    return S3Store(bucket.name, retry_config=ONCE, **more)


def test_of_fifty_who_make_a_key_one_alone_does(bucket):
    client = connect(bucket)

    def make(number):
        try:
            obstore.put(client, "lease", str(number).encode(), mode="create")
        except AlreadyExistsError:
            return None
        return number

    with ThreadPoolExecutor(50) as pool:
        made = [number for number in pool.map(make, range(50)) if number is not None]
    assert [str(number).encode() for number in made] == [
        bytes(obstore.get(client, "lease").bytes())
    ]


def test_of_fifty_who_replace_a_content_one_alone_does(bucket):
    client = connect(bucket)
    tag = obstore.put(client, "lease", b"0")["e_tag"]

    def replace(number):
        try:
            obstore.put(client, "lease", str(number).encode(), mode={"e_tag": tag})
        except PreconditionError:
            return None
        return number

    with ThreadPoolExecutor(50) as pool:
        made = [number for number in pool.map(replace, range(1, 51)) if number is not None]
    assert [str(number).encode() for number in made] == [
        bytes(obstore.get(client, "lease").bytes())
    ]


@pytest.mark.parametrize(
    ("kind", "error", "is_done"),
    [
        ("slow-down", GenericError, False),
        ("conflict", AlreadyExistsError, False),
        ("deny", PermissionDeniedError, False),
        ("cut-before", GenericError, False),
        ("cut-after", GenericError, False),
        ("lost", GenericError, True),
    ],
)
def test_a_put_meets_the_fault_once_and_is_done_or_not(bucket, kind, error, is_done):
    client = connect(bucket)
    bucket.store.fail(kind, "PUT", "*/key", skip=1)
    obstore.put(client, "key", b"first")
    with pytest.raises(error):
        obstore.put(client, "key", b"second")
    assert bucket.store.met() == {kind: 1}
    assert bytes(obstore.get(client, "key").bytes()) == (b"second" if is_done else b"first")
    obstore.put(client, "key", b"third")
    assert bytes(obstore.get(client, "key").bytes()) == b"third"


def test_half_of_an_answer_is_an_error(bucket):
    client = connect(bucket)
    obstore.put(client, "key", b"0123456789" * 1_000)
    bucket.store.fail("half", "GET", "*/key")
    with pytest.raises((BaseError, OSError)):
        obstore.get(client, "key").bytes()
    assert len(obstore.get(client, "key").bytes()) == 10_000


def test_an_answer_may_come_late(bucket):
    obstore.put(connect(bucket), "key", b"x")
    bucket.store.fail("stall", "GET", seconds=3)
    hasty = connect(bucket, client_options={"timeout": "500ms", "allow_http": True})
    with pytest.raises(GenericError):
        obstore.get(hasty, "key").bytes()


def test_a_client_that_tries_again_gets_over_it(bucket):
    obstore.put(S3Store(bucket.name), "key", b"x")
    bucket.store.fail("slow-down", "GET", times=2)
    assert bytes(obstore.get(S3Store(bucket.name), "key").bytes()) == b"x"
    assert bucket.store.met() == {"slow-down": 2}


def test_faults_are_all_tried_here():
    assert set(KINDS) == {
        "slow-down", "conflict", "deny", "cut-before", "cut-after", "lost", "half", "stall",
    }  # fmt: skip


def test_a_fault_that_is_none_is_refused(store):
    with pytest.raises(ValueError, match="unknown fault 'typo'"):
        store.fail("typo")


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("access_key_id", "AKIDOFNOBODY", PermissionDeniedError),
        ("secret_access_key", KEY[1][::-1], PermissionDeniedError),
        ("region", "eu-nowhere-1", GenericError),
    ],
)
def test_only_the_right_key_and_region_are_let_in(bucket, name, value, error):
    with pytest.raises((error, UnauthenticatedError)):
        obstore.put(connect(bucket, **{name: value}), "key", b"x")
    assert obstore.list(connect(bucket)).collect() == []


def test_requests_and_bytes_are_counted_by_kind_of_key(bucket):
    client = connect(bucket)
    obstore.put(client, "w/t/part=1/a b.parquet", b"x" * 1_000)
    obstore.put(client, "w/t/_delta_log/00000000000000000000.json", b"y" * 50)
    bucket.store.reset()
    obstore.get_range(client, "w/t/part=1/a b.parquet", start=100, length=7)
    obstore.get(client, "w/t/_delta_log/00000000000000000000.json").bytes()
    obstore.head(client, "w/t/part=1/a b.parquet")
    obstore.list(client, "w/").collect()
    totals = bucket.store.totals()
    assert totals["GET", "data"] == (1, 0, 7)
    assert totals["GET", "log"] == (1, 0, 50)
    assert totals["HEAD", "data"] == (1, 0, 0)
    assert totals["GET", "list"][0] == 1
    requests, sent = bucket.store.read()
    assert (requests, sent) == (4, 57 + totals["GET", "list"][2])
    assert bucket.keys()["w/t/part=1/a b.parquet"] == 2


def test_the_clock_of_the_server_can_be_moved(bucket):
    client = connect(bucket)
    bucket.store.set_clock(timedelta(days=10))
    obstore.put(client, "key", b"x")
    ahead = obstore.head(client, "key")["last_modified"] - datetime.now(UTC)
    assert timedelta(days=9.9) < ahead < timedelta(days=10.1)


def test_a_server_starts_at_another_time_and_ends_with_its_input(monkeypatch):
    with start_store(timedelta(days=-3)) as store:
        for name, value in store.env.items():
            monkeypatch.setenv(name, value)
        client = connect(store.bucket("early"))
        obstore.put(client, "key", b"x")
        ago = datetime.now(UTC) - obstore.head(client, "key")["last_modified"]
        assert timedelta(days=2.9) < ago < timedelta(days=3.1)
        store.process.stdin.close()
        assert store.process.wait(timeout=20) == 0


def test_a_client_that_is_killed_half_way_has_put_nothing(bucket):
    client = connect(bucket)
    head = f"PUT /{bucket.name}/key HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 100\\r\\n\\r\\nhalf"
    sent = subprocess.run(
        ["bash", "-c", f"printf '{head}' > /dev/tcp/127.0.0.1/{bucket.store.port}"],
        timeout=20, check=False,
    )  # fmt: skip
    assert sent.returncode == 0
    assert obstore.list(client).collect() == []
