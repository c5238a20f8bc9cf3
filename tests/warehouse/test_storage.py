"""What every storage of a warehouse keeps to: a local disk, an object store, a URI."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from aclkit.warehouse import retention
from aclkit.warehouse.schemas import TABLES
from aclkit.warehouse.storage import LocalStorage, commit, newest_version
from aclkit.warehouse.store import Store
from tests.on_disk import on_disk
from tests.warehouse.object_store import ObjectStore

WRITERS = 8


@pytest.fixture(params=["local", "object store"])
def storage(request, tmp_path):
    return (
        LocalStorage(tmp_path / on_disk("a é") / "b") if request.param == "local" else ObjectStore()
    )


@pytest.fixture(params=["local", "object store"])
def files(request, tmp_path):
    """Where others wrote: ``log/1`` of three bytes, ``log/2`` of none, ``log/below/3``."""
    storage = ObjectStore() if request.param == "object store" else LocalStorage(tmp_path)
    for path, content in (("log/2", b""), ("log/1", b"abc"), ("log/below/3", b"d")):
        assert storage.create(path, content)
    return storage


def test_a_list_holds_the_files_of_a_folder_and_none_below_it(files):
    assert files.list("log") == ["1", "2"]


def test_a_tree_holds_the_files_below_a_folder_too(files):
    assert files.tree("log") == ["1", "2", "below/3"]


def test_a_folder_that_is_not_there_has_no_files(files):
    assert files.list("nowhere") == []


def test_a_range_is_read_and_ends_with_the_file(files):
    file = files.open("log/1")
    assert (file.size, file.read(1, 1), file.read(1, 9), file.read(3, 1)) == (3, b"b", b"bc", b"")
    file.close()


def test_a_deleted_file_is_gone(files):
    files.delete("log/1")
    assert files.list("log") == ["2"]


@pytest.mark.parametrize("what", ["open", "delete"])
def test_a_file_that_is_not_there_is_told(files, what):
    with pytest.raises(FileNotFoundError):
        getattr(files, what)("log/9")


def test_a_file_is_made_once(storage):
    assert storage.create("a/b", b"first")
    assert not storage.create("a/b", b"second")
    assert storage.read("a/b") == b"first"


def test_of_many_who_make_a_file_one_does(storage):
    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(lambda n: storage.create("a", str(n).encode()), range(WRITERS)))
    assert made.count(True) == 1
    assert storage.read("a") == str(made.index(True)).encode()


def test_a_version_is_committed_once_and_is_the_newest(storage):
    assert newest_version(storage, "t") is None
    assert commit(storage, "t", 0, [{"commitInfo": {}}])
    assert commit(storage, "t", 10, [{"commitInfo": {"operation": "é"}}, {"txn": {"appId": "a"}}])
    assert not commit(storage, "t", 10, [])
    assert newest_version(storage, "t") == 10
    written = storage.read("t/_delta_log/00000000000000000010.json")
    assert list(map(json.loads, written.splitlines())) == [
        {"commitInfo": {"operation": "é"}}, {"txn": {"appId": "a"}},
    ]  # fmt: skip


def test_files_that_no_needed_version_names_are_removed(storage, monkeypatch):
    for version in range(12):
        commit(storage, "t", version, [])
    storage.create("t/_delta_log/00000000000000000010.checkpoint.parquet", b"")
    for name in ("old.parquet", "new.parquet", ".old.parquet.crc", "notes.txt"):
        storage.create(f"t/{name}", b"")
    needed = SimpleNamespace(files=[SimpleNamespace(name="new.parquet")])
    monkeypatch.setattr(retention, "read_files", lambda *_: needed)
    store = SimpleNamespace(place=SimpleNamespace(files=storage), require_held=lambda: None)
    retention._remove_of(store, "t", [11])
    assert storage.list("t") == ["new.parquet", "notes.txt"]
    names = [name.partition(".")[0] for name in storage.list("t/_delta_log")]
    assert {int(name) for name in names} == {10, 11}


def test_delta_reads_what_was_committed_to_a_local_disk(tmp_path):
    field = {"name": "a", "type": "string", "nullable": True, "metadata": {}}
    schema = {"type": "struct", "fields": [field]}
    kind = {"id": "1", "format": {"provider": "parquet", "options": {}}, "partitionColumns": []}
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {**kind, "schemaString": json.dumps(schema), "configuration": {"a": "b"}}},
    ]
    assert commit(LocalStorage(tmp_path), "t", 0, actions)
    table = DeltaTable(tmp_path / "t")
    assert (table.version(), table.metadata().configuration) == (0, {"a": "b"})


def test_a_local_file_has_the_mode_that_the_umask_gives(tmp_path):
    storage = LocalStorage(tmp_path)
    umask = os.umask(0o027)
    try:
        storage.create("a", b"one")
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(umask)


def test_what_a_killed_write_left_is_no_file(tmp_path):
    storage = LocalStorage(tmp_path)
    storage.create("a", b"")
    (tmp_path / ".0.aclkit-part").write_bytes(b"half")
    assert storage.list("") == ["a"]


def test_a_local_file_that_was_removed_is_read_to_its_end(tmp_path):
    storage = LocalStorage(tmp_path)
    storage.create("a", b"content")
    file = storage.open("a")
    storage.delete("a")
    assert file.read(0, 7) == b"content"
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read(0, 1)


@pytest.mark.parametrize(
    ("table", "bounded"),
    [
        ("explain_ruling", {"cluster_id"}),
        (
            "explain_pair",
            {"cluster_id", "principal", "resource_type", "resource_name", "ruleset_id"},
        ),
    ],
)
def test_files_of_a_table_that_lies_by_hashes_tell_bounds_of_the_cluster_alone(
    tmp_path, table, bounded
):
    row = [f"{name} of one" for name in TABLES[table].column_names]
    Store(None, str(tmp_path)).replace(table, [row], None)
    told = pa.table(DeltaTable(str(tmp_path / table)).get_add_actions(flatten=True)).to_pylist()
    names = {key.removeprefix("min.") for key, least in told[0].items() if "min." in key and least}
    assert names == bounded
