"""Rules of pipeline.sources.readers: every kind of text is read the same way, from anywhere."""

from __future__ import annotations

import pytest

from aclkit.errors import AclkitError, DataError, UsageError
from aclkit.model.facts import FACT, REJECT
from aclkit.pipeline.sources import metadata_log, readers
from aclkit.pipeline.sources.files import read_bytes, require_file
from aclkit.pipeline.sources.items import EPOCHS, SEGMENT, SNAPSHOT, WorkItem
from aclkit.pipeline.sources.metadata_log import list_metadata_log, read_cluster_id
from aclkit.pipeline.sources.readers import READERS, read_item, read_listing
from aclkit.pipeline.sources.source_kinds import DUMP_LOG, METADATA_LOG, RECORDS, SOURCE_KINDS
from tests.pipeline.sources.log_bytes import DATA as SAMPLES
from tests.pipeline.sources.log_bytes import KRAFT

DATA = SAMPLES / "kraft-4.1-text"
NEWEST = "00000000000000000915-0000000001.checkpoint"
LISTING = DATA / "kafka-acls-list.txt"


LISTED = "listing"


def read_text(kind, path):
    """Read a text of a kind, be it a listing or of the log."""
    if kind == LISTED:
        return list(read_listing(str(path)))
    return list(read_item(WorkItem(kind=kind, path=str(path))))


def without_source(rows):
    return [(row.kind, row.resource_name, row.principal, row.operation) for row in rows]


def test_a_listing_is_read_from_a_uri_as_from_a_path():
    from_uri = list(read_listing(LISTING.as_uri()))
    assert len(from_uri) == 627
    assert without_source(from_uri) == without_source(read_listing(str(LISTING)))


def test_a_listing_that_is_not_there_is_the_requests_fault(tmp_path):
    missing = tmp_path / "none.txt"
    for place in (str(missing), missing.as_uri()):
        with pytest.raises(UsageError, match="the file does not exist"):
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
    with pytest.raises(UsageError, match="Expected a path or URI"):
        read(path)


def test_a_carriage_return_in_a_name_ends_no_line(tmp_path):
    text = LISTING.read_text(encoding="utf-8").replace("User:bob", "User:b\rob")
    path = tmp_path / "acls.txt"
    path.write_text(text, encoding="utf-8", newline="")
    rows = list(read_listing(str(path)))
    assert {row.kind for row in rows} == {"fact"}
    assert "User:b\rob" in {row.principal for row in rows}


UTF_16 = ["utf-16-le", "utf-16-be"]


def in_utf_16(path, encoding):
    """Return a text as PowerShell's ``>`` writes it."""
    text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
    return f"\ufeff{text}".encode(encoding)


@pytest.mark.parametrize("encoding", UTF_16)
@pytest.mark.parametrize("name", ["kafka-acls-list.txt", "kafka-dump-log.txt"])
def test_a_text_of_utf_16_is_read_as_the_same_of_utf_8(tmp_path, encoding, name):
    path = tmp_path / name
    path.write_bytes(in_utf_16(DATA / name, encoding))
    kind = DUMP_LOG if "dump" in name else LISTED
    assert without_source(read_text(kind, path)) == without_source(read_text(kind, DATA / name))


def test_other_bytes_behind_the_mark_of_utf_16_are_refused(tmp_path):
    path = tmp_path / "acls.txt"
    path.write_bytes(in_utf_16(LISTING, "utf-16-le") + b"x")
    with pytest.raises(DataError, match="expected UTF-16, found other bytes in line"):
        list(read_listing(str(path)))


JORG = "User:J\u00f6rg"
RECORD = (
    '{"offset":1,"timestamp":1700000000000,"type":"ACCESS_CONTROL_ENTRY_RECORD","version":0,'
    '"data":{"id":"EjRWeJCrze8AAAAAAAAAAQ","resourceType":2,"resourceName":"t","patternType":3,'
    f'"principal":"{JORG}","host":"*","operation":3,"permissionType":3}}}}\n'
)
NAMED = {
    LISTED: "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, "
    f"patternType=LITERAL)`:\n\t(principal={JORG}, host=*, operation=READ, permissionType=ALLOW)\n",
    RECORDS: RECORD,
    DUMP_LOG: "Dumping x/00000000000000000000.log\n| offset: 1 CreateTime: 1700000001000 keySize: "
    f"-1 valueSize: 1 sequence: -1 headerKeys: [] payload: {RECORD}",
}


@pytest.mark.parametrize("kind", sorted(NAMED))
def test_a_name_of_other_bytes_than_utf_8_becomes_no_other_name(tmp_path, kind):
    path = tmp_path / "text"
    path.write_text(NAMED[kind], encoding="utf-8")
    assert [row.principal for row in read_text(kind, path) if row.kind == FACT] == [JORG]
    path.write_text(NAMED[kind], encoding="latin-1")
    rows = read_text(kind, path)
    assert not [row for row in rows if row.kind == FACT]
    (refused,) = [row for row in rows if row.kind == REJECT]
    assert refused.position == NAMED[kind].count("\n")
    assert "not UTF-8" in refused.reason


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


def test_every_kind_of_log_has_a_reader():
    kinds = {kind.name for kind in SOURCE_KINDS.values() if kind.is_log} - {METADATA_LOG}
    assert {SEGMENT, SNAPSHOT, EPOCHS, *kinds} == {*READERS}
