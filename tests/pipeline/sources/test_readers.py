"""Rules of pipeline.sources.readers: every kind of text is read the same way, from anywhere."""

from __future__ import annotations

import pytest

from aclkit.errors import AclkitError, UsageError
from aclkit.pipeline.sources import metadata_log, readers
from aclkit.pipeline.sources.files import read_bytes, require_file
from aclkit.pipeline.sources.items import DUMP_LOG, SEGMENT, SNAPSHOT, WorkItem
from aclkit.pipeline.sources.metadata_log import list_metadata_log, read_cluster_id
from aclkit.pipeline.sources.readers import READERS, read_item, read_listing
from tests.pipeline.sources.log_bytes import DATA as SAMPLES
from tests.pipeline.sources.log_bytes import KRAFT

DATA = SAMPLES / "kraft-4.1-text"
NEWEST = "00000000000000000915-0000000001.checkpoint"
LISTING = DATA / "kafka-acls-list.txt"


def without_source(rows):
    return [(row.kind, row.resource_name, row.principal, row.operation) for row in rows]


def test_a_listing_is_read_from_a_uri_as_from_a_path():
    from_uri = list(read_listing(LISTING.as_uri()))
    assert len(from_uri) == 627
    assert without_source(from_uri) == without_source(read_listing(str(LISTING)))


def test_a_listing_that_is_not_there_is_the_requests_fault(tmp_path):
    missing = tmp_path / "none.txt"
    for place in (str(missing), missing.as_uri()):
        with pytest.raises(UsageError, match="there is no such file"):
            require_file(place)
    for place in (str(tmp_path), tmp_path.as_uri()):
        with pytest.raises(UsageError, match="expected a file, found a folder"):
            require_file(place)
    require_file(LISTING.as_uri())
    require_file(str(LISTING))


def test_a_uri_that_nothing_opens_is_the_requests_fault():
    with pytest.raises(UsageError, match="cannot be opened"):
        require_file("nowhere://host/acls.txt")


@pytest.mark.parametrize("path", ["a\0b", "\udcff.txt", "file:///a\udcff"])
@pytest.mark.parametrize("read", [require_file, list_metadata_log, read_cluster_id])
def test_a_path_that_no_file_can_have_is_the_requests_fault(read, path):
    with pytest.raises(UsageError, match="expected a path or URI"):
        read(path)


def test_a_carriage_return_in_a_name_ends_no_line(tmp_path):
    text = LISTING.read_text(encoding="utf-8").replace("User:bob", "User:b\rob")
    path = tmp_path / "acls.txt"
    path.write_text(text, encoding="utf-8", newline="")
    rows = list(read_listing(str(path)))
    assert {row.kind for row in rows} == {"fact"}
    assert "User:b\rob" in {row.principal for row in rows}


def test_a_dump_is_read_from_a_uri_as_from_a_path():
    path = DATA / "kafka-dump-log.txt"
    from_uri, from_path = (
        without_source(read_item(WorkItem(kind=DUMP_LOG, path=place)))
        for place in (path.as_uri(), str(path))
    )
    assert from_uri == from_path


SECRETS = ["nowhere://KEY:hunter2@host/acls.txt", "nowhere://c@host/acls.txt?secret=hunter2"]


@pytest.mark.parametrize("uri", SECRETS)
@pytest.mark.parametrize("read", [require_file, list_metadata_log, read_cluster_id, read_bytes])
def test_a_credential_in_a_uri_comes_into_no_message(uri, read):
    with pytest.raises(UsageError, match=r"nowhere://.*cannot be opened") as refused:
        read(uri)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("uri", SECRETS)
@pytest.mark.parametrize("kind", sorted(READERS))
def test_a_credential_in_a_uri_comes_into_no_row(uri, kind, monkeypatch):
    data = (KRAFT / "00000000000000000000.log").read_bytes() if kind == SEGMENT else b"{}\n"
    monkeypatch.setattr(readers, "read_bytes", lambda path, size=None: data)
    monkeypatch.setattr(metadata_log, "read_bytes", lambda path, size=None: data)
    path = uri.replace("acls.txt", NEWEST) if kind == SNAPSHOT else uri
    try:
        told = [repr(row) for row in read_item(WorkItem(kind=kind, path=path))]
    except AclkitError as error:
        told = [str(error)]
    assert told
    assert not any("hunter2" in text for text in told)
