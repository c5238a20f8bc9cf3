"""warehouse.ranges: a process without connections gets bytes of the files offered, nothing else."""

from __future__ import annotations

import os
import struct
from multiprocessing.connection import Connection

import pytest

from aclkit.warehouse.byte_range_proxy import offered, received
from aclkit.warehouse.storage import LocalStorage
from aclkit.warehouse.table_files import StoredFile, TableFiles

# Who inherits the sockets keeps them to its end, which is not that of a test.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
CONTENT = bytes(range(256)) * 10
COLUMNS = (("a", "VARCHAR"),)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "x.parquet").write_bytes(CONTENT)
    file = StoredFile(LocalStorage(tmp_path), "t/x.parquet", len(CONTENT), 7, local=None)
    return TableFiles((file,), COLUMNS)


def test_tables_and_their_bytes_arrive(table):
    with offered({("t", ""): table, ("p", "c"): table}) as (text, sockets):
        tables = received(text, [os.dup(number) for number in sockets])
        assert tables.keys() == {("t", ""), ("p", "c")}
        assert tables["t", ""].columns == COLUMNS
        for found in tables.values():
            (file,) = found.files
            assert (file.size, file.modified) == (len(CONTENT), 7)
            assert file.open().read(250, 20) == CONTENT[250:270]
            assert file.open().read(len(CONTENT) - 3, 99) == CONTENT[-3:]
            assert file.open().read(len(CONTENT) + 3, 99) == b""


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(struct.pack("<IQQ", 1, 0, 1), id="a file that was not offered"),
        pytest.param(struct.pack("<IQQ", 0, 0, 1 << 60), id="more than there is"),
        pytest.param(b"x" * 20, id="nonsense"),
        pytest.param(b"x" * 3, id="less than a request"),
        pytest.param(b"x" * 21, id="more than a request"),
    ],
)
def test_who_asks_for_what_there_is_not_hears_nothing_more(table, asked):
    with (
        offered({("t", ""): table}) as (_, sockets),
        Connection(os.dup(sockets[0])) as ours,
    ):
        ours.send_bytes(asked)
        assert ours.poll(20)
        with pytest.raises((EOFError, ConnectionError)):
            ours.recv_bytes()


def test_a_file_that_cannot_be_read_is_told(table, tmp_path):
    with offered({("t", ""): table}) as (text, sockets):
        tables = received(text, [os.dup(number) for number in sockets])
        (file,) = tables["t", ""].files
        assert file.open().read(0, 1) == CONTENT[:1]
        (tmp_path / "t" / "x.parquet").unlink()
    with offered({("t", ""): table}) as (text, sockets):
        tables = received(text, [os.dup(number) for number in sockets])
        with pytest.raises(OSError, match=r"x\.parquet"):
            tables["t", ""].files[0].open().read(0, 1)
