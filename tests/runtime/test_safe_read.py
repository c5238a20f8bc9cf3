"""Rules of runtime.safe_read: whatever a path names, reading it ends, in bytes or in words."""

from __future__ import annotations

import errno
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from aclkit.audit.alerts.webhook import find_webhook
from aclkit.cli.assertions import read_assertions
from aclkit.cli.baseline_options import read_baseline, read_mutes
from aclkit.cli.settings import read_config
from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.client.properties import read_properties
from aclkit.kafka.desired.read import Asked
from aclkit.model.symbol import PRINCIPALS
from aclkit.pipeline.inventory.attribute_table import AttributeTableBuilder
from aclkit.pipeline.inventory.files import read_inventory
from aclkit.pipeline.sources.files import read_bytes, read_user_file
from aclkit.questions.read_state import Files, read_state
from aclkit.runtime import safe_read
from aclkit.runtime.safe_read import decode, read_file, read_text
from tests.questions.difference.world import state

READERS = {
    "inventory": lambda path: read_inventory(None, path, PRINCIPALS),
    "attribute table": lambda path: AttributeTableBuilder().configure({"table": path}),
    "config": lambda path: read_config(path, {"": {}}),
    "assertions": read_assertions,
    "baseline": read_baseline,
    "mutes": read_mutes,
    "change set": lambda path: read_state(Files([path], Asked(), onto=state([]))),
    "webhook": lambda path: find_webhook(path, environ={}),
    "properties": read_properties,
    "URI": lambda path: read_user_file(f"file://{path}", 100),
}
every_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(safe_read, "PATIENCE", 0.1)


@every_reader
@pytest.mark.usefixtures("impatient")
def test_no_reader_waits_for_a_pipe_into_which_nobody_writes(tmp_path, read):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    with pytest.raises(UsageError, match=r"pipe\.csv: .* a pipe or device that did not end"):
        read(str(path))


@every_reader
def test_no_reader_reads_a_device_without_an_end(tmp_path, read):
    path = tmp_path / "zero.csv"
    path.symlink_to("/dev/zero")
    with pytest.raises(
        UsageError, match=r"zero\.csv: (expected a file of at most|a symbolic link)"
    ):
        read(str(path))


@every_reader
def test_every_reader_says_that_a_file_is_missing_or_a_socket(tmp_path, read):
    with pytest.raises(UsageError, match=r"no\.csv: the file (or directory )?does not exist"):
        read(str(tmp_path / "no.csv"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.csv"))
        with pytest.raises(UsageError, match=r"s\.csv: expected a file: "):
            read(str(tmp_path / "s.csv"))


@pytest.mark.parametrize(
    "name", [name for name in READERS if name not in ("inventory", "change set")]
)
def test_a_folder_is_no_file(tmp_path, name):
    with pytest.raises(UsageError, match="expected a file, found a folder"):
        READERS[name](str(tmp_path))


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_path_that_the_system_cannot_hold_is_refused(path):
    with pytest.raises(UsageError, match="Expected the path of a file"):
        read_file(path, 10)


def test_a_name_that_is_too_long_is_refused():
    with pytest.raises(UsageError, match="expected a file: File name too long"):
        read_file("x" * 5_000, 10)


def test_what_must_not_be_read_is_the_fault_of_the_surroundings(monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(safe_read.os, "open", refuse)
    with pytest.raises(SurroundingsError, match="f: cannot be read: Permission denied"):
        read_file("f", 10)


def test_a_file_may_have_as_many_bytes_as_are_allowed_and_not_one_more(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"x" * 10)
    assert read_file(str(path), 10) == b"x" * 10
    with pytest.raises(UsageError, match="expected a file of at most 9 bytes, found a larger one"):
        read_file(str(path), 9)
    assert read_file(os.devnull, 0) == b""


def test_a_pipe_of_the_shell_is_read_to_its_end():
    reading, writing = os.pipe()
    os.write(writing, b"principal\n")
    threading.Timer(0.05, lambda: (os.write(writing, b"User:a\n"), os.close(writing))).start()
    try:
        assert read_file(f"/dev/fd/{reading}", 100) == b"principal\nUser:a\n"
    finally:
        os.close(reading)


@pytest.mark.usefixtures("impatient")
def test_a_pipe_that_drips_is_given_up(tmp_path):
    path, is_over = tmp_path / "pipe", threading.Event()
    os.mkfifo(path)
    # Opened for both, so that it waits for nobody.
    descriptor = os.open(path, os.O_RDWR)

    def drip():
        while not is_over.wait(0.01):
            os.write(descriptor, b".")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        with pytest.raises(UsageError, match="did not end within"):
            read_file(str(path), 1_000_000)
    finally:
        is_over.set()
        thread.join()
        os.close(descriptor)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_says_how_text_is_written_and_is_no_part_of_it(tmp_path, encoding):
    path = tmp_path / "t"
    path.write_bytes("warehouse = 'é😀'\r\n".encode(encoding))
    assert read_text(str(path)) == "warehouse = 'é😀'\r\n"


def test_other_bytes_are_refused_with_their_line():
    with pytest.raises(UsageError, match=r"^f: expected UTF-8, found other bytes in line 3$"):
        decode(b"a\nb\n\xff\n", "f")
    with pytest.raises(UsageError, match=r"^f: expected UTF-16, found other bytes in line 1$"):
        decode(b"\xff\xfea", "f")


def test_sources_are_no_pipes(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    os.mkfifo(path)
    with pytest.raises(UsageError, match="expected a file, found a pipe, a socket or a device"):
        read_bytes(str(path))


def test_a_descriptor_is_closed_whatever_happens(tmp_path):
    def opened():
        return len(list(Path("/dev/fd").iterdir()))

    before = opened()
    for path in (str(tmp_path), os.devnull, "/dev/zero"):
        with suppress(UsageError):
            read_file(path, 10)
    assert opened() == before
