"""A folder → the same files in a bucket, under the same names."""

from __future__ import annotations

from pathlib import Path

import obstore
from obstore.store import from_url

from tests.object_store.bench import Bucket


def put_folder(folder: Path, bucket: Bucket, prefix: str) -> str:
    """Copy all files of a folder below a prefix; return its URI."""
    uri = f"{bucket.uri}/{prefix}"
    store = from_url(uri)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            obstore.put(store, path.relative_to(folder).as_posix(), path.read_bytes())
    return uri


def put_file(path: Path, bucket: Bucket, name: str) -> str:
    """Copy a file; return its URI."""
    obstore.put(from_url(bucket.uri), name, path.read_bytes())
    return f"{bucket.uri}/{name}"
