"""A file that a user named, in a bucket."""

from __future__ import annotations

import io

import pytest

from aclkit.errors import SurroundingsError, UsageError
from aclkit.runtime.objects import put_object
from aclkit.runtime.safe_read import read_file, read_text


def test_what_was_put_is_read_back(bucket):
    uri = f"{bucket.uri}/policies/baseline.json"
    put_object(uri, io.BytesIO("é".encode()))
    assert read_text(uri) == "é"
    assert read_file(uri, 2) == "é".encode()


def test_an_object_that_is_too_large_or_not_there_is_told(bucket):
    uri = f"{bucket.uri}/a"
    put_object(uri, io.BytesIO(b"abc"))
    with pytest.raises(UsageError, match="expected a file of at most 2 bytes"):
        read_file(uri, 2)
    with pytest.raises(UsageError, match="b: the file does not exist"):
        read_file(f"{bucket.uri}/b", 2)
    with pytest.raises(UsageError, match="expected a path after the bucket's name"):
        read_file(bucket.uri, 2)
    bucket.store.fail("deny", "GET", "*/a")
    with pytest.raises(SurroundingsError, match="cannot be read"):
        read_file(uri, 9)
