"""What is said, and how soon, where a store cannot be opened."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime.reachable import require_reachable
from tests.object_store.server import KEY


@pytest.fixture
def refused(bucket, monkeypatch):
    """Return what is said of the bucket, the environment being another."""

    def ask(error=UsageError, uri=f"{bucket.uri}/w", **env):
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        began = time.monotonic()
        with pytest.raises(error) as raised:
            require_reachable(uri)
        assert time.monotonic() - began < 15
        said = str(raised.value)
        assert "\n" not in said
        assert not [secret for secret in (*KEY, "Signature", "hunter2") if f"{secret}=" in said]
        assert not [secret for secret in (*KEY, "hunter2") if secret in said]
        return said

    return ask


def test_a_bucket_that_is_there_is_opened_also_where_nothing_lies_in_it_yet(bucket):
    require_reachable(bucket.uri)
    require_reachable(f"{bucket.uri}/a/b")


def test_one_request_is_enough(bucket):
    require_reachable(bucket.uri)
    assert bucket.store.read()[0] == 1


@pytest.mark.parametrize("place", ["/data/w", "file:///data/w", "hdfs://host/w"])
def test_other_places_are_not_asked(place):
    require_reachable(place)


def test_a_bucket_that_is_not_there(refused, bucket):
    said = refused(uri="s3a://nobody-has-it/w")
    assert said == (
        f"Cannot open s3a://nobody-has-it/w at {bucket.store.endpoint}: the bucket does not exist "
        "(NoSuchBucket). Check its name."
    )


def test_a_key_that_nobody_knows(refused):
    said = refused(AWS_ACCESS_KEY_ID="AKIDNOBODY")
    assert "the credentials are rejected (InvalidAccessKeyId). Set AWS_ACCESS_KEY_ID" in said
    assert "AKIDNOBODY" not in said


def test_a_secret_that_is_another(refused):
    said = refused(AWS_SECRET_ACCESS_KEY="hunter2")
    assert "the credentials are rejected (SignatureDoesNotMatch)" in said


def test_credentials_that_may_not_list(refused, bucket):
    bucket.store.fail("deny", "GET")
    assert "these credentials are not allowed to list it (AccessDenied)" in refused()


def test_no_credentials(refused, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    said = refused(AWS_METADATA_ENDPOINT="http://127.0.0.1:1")
    assert "there are no credentials. Set AWS_ACCESS_KEY_ID" in said


def test_another_region(refused):
    said = refused(AWS_REGION="us-west-2")
    assert "another region (AuthorizationHeaderMalformed). Set AWS_REGION" in said


def test_a_host_that_nobody_knows(refused):
    said = refused(AWS_ENDPOINT_URL="http://minio.invalid:9000")
    assert said.startswith("Cannot open ")
    assert "the host minio.invalid does not exist. Check AWS_ENDPOINT_URL and AWS_REGION" in said


def test_a_region_that_is_none(refused, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    said = refused(AWS_REGION="nowhere.invalid")
    assert "at AWS, region nowhere.invalid" in said


def test_an_endpoint_where_nothing_listens(refused):
    assert "at http://127.0.0.1:1: nothing listens there" in refused(
        AWS_ENDPOINT_URL="http://127.0.0.1:1"
    )


def test_plain_http_that_nobody_allowed(refused):
    assert "AWS_ALLOW_HTTP=true" in refused(AWS_ALLOW_HTTP="")


def test_a_store_that_speaks_no_tls(refused, bucket):
    endpoint = bucket.store.endpoint.replace("http:", "https:")
    assert "no connection; perhaps the server does not use TLS" in refused(
        AWS_ENDPOINT_URL=endpoint
    )


def test_a_password_in_the_endpoint_is_not_shown(refused, bucket):
    endpoint = bucket.store.endpoint.replace("//", "//key:hunter2@")
    refused(AWS_ENDPOINT_URL=endpoint, AWS_REGION="us-west-2")


def test_a_store_that_does_not_answer_is_not_waited_for(bucket):
    bucket.store.fail("stall", "GET", times=9, seconds=5)
    with pytest.raises(
        SurroundingsError, match=r"no answer within 0\.5 s\. Check AWS_ENDPOINT_URL"
    ):
        require_reachable(bucket.uri, seconds=0.5)


def test_a_store_in_trouble_is_told_from_a_request_that_makes_no_sense(refused, bucket):
    bucket.store.fail("slow-down", "GET", times=9)
    assert "the object store fails (SlowDown). Try again later" in refused(SurroundingsError)


def test_what_passes_is_not_told(bucket):
    bucket.store.fail("slow-down", "GET")
    bucket.store.fail("cut-after", "GET")
    require_reachable(bucket.uri)
    assert bucket.store.met() == {"slow-down": 1, "cut-after": 1}


def test_a_command_ends_before_a_jvm_is_started(bucket):
    program = "from aclkit.cli import cli; cli()"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program, "--warehouse", "s3a://nobody-has-it/w", "maintain"],
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: Cannot open s3a://nobody-has-it/w at ")
    assert "Starting Spark" not in done.stderr
    assert time.monotonic() - began < 30  # one of two cores may be somebody else's
