"""Rules of imprints of sources: what of a source makes it another one, and what does not."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from aclkit.model.facts import REJECT, SourceRow
from aclkit.model.unread import TOPICS, USERS
from aclkit.pipeline.replay.intake import (
    Imprint,
    Intake,
    Source,
    ask_live,
    imprint_of,
    look_at,
    parse_source,
)
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.sources.listing import Listing, acl_row
from tests.cli.running import KRAFT, NEWEST, SEGMENT

OPTIONS = ReplayOptions()
BINDING = ("TOPIC", "a", "LITERAL", "User:u", "*", "READ", "ALLOW")


@pytest.fixture
def log(tmp_path):
    folder = tmp_path / "log"
    shutil.copytree(KRAFT, folder)
    return folder


def digest(path, options=OPTIONS, kind="metadata-log"):
    found = imprint_of(look_at([parse_source(f"{kind}:{path}")]), options)
    assert found is not None
    return found.digest


def flip(path, at):
    """Change one byte; size and times stay."""
    looks = path.stat()
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(looks.st_atime_ns, looks.st_mtime_ns))


def append(folder):
    with (folder / SEGMENT).open("ab") as segment:
        segment.write(b"\0" * 7)


def cut(folder):
    with (folder / SEGMENT).open("ab") as segment:
        segment.truncate(segment.tell() - 1)


CHANGES = {
    "a half batch at the end": append,
    "a shorter file": cut,
    "another byte of the same size and time": lambda folder: flip(folder / SEGMENT, 40_000),
    "another byte of a snapshot": lambda folder: flip(folder / NEWEST, 5_000),
    "a file that came": lambda folder: shutil.copy(
        folder / NEWEST, folder / f"{999:020}-0000000001.checkpoint"
    ),
    "a file that went": lambda folder: (folder / NEWEST).unlink(),
    "a file of another name": lambda folder: (folder / NEWEST).rename(
        folder / f"{914:020}-0000000001.checkpoint"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_other_bytes_and_other_files_are_another_source(log, change):
    before = digest(log)
    change(log)
    assert digest(log) != before


def test_the_same_bytes_at_another_time_are_the_same_source(log):
    before = digest(log)
    os.utime(log / SEGMENT)
    (log / "quorum-state").write_text("{}", encoding="utf-8")
    assert digest(log) == before


def test_the_same_bytes_elsewhere_are_another_source(log, tmp_path):
    """For a reject names its source."""
    other = tmp_path / "other"
    shutil.copytree(log, other)
    assert digest(other) != digest(log)


@pytest.mark.parametrize(
    "changed", [{"high_watermark": 915}, {"accept_holes": True}, {"strict": True}]
)
def test_another_way_of_reading_gives_another_imprint(log, changed):
    assert digest(log, replace(OPTIONS, **changed)) != digest(log)


def test_so_does_other_code_that_reads(log, monkeypatch):
    before = digest(log)
    monkeypatch.setattr("aclkit.pipeline.replay.intake._reading", lambda: "of another aclkit")
    assert digest(log) != before


def test_an_imprint_holds_until_a_file_is_written(log):
    found = imprint_of(look_at([parse_source(f"metadata-log:{log}")]), OPTIONS)
    assert found is not None
    assert found.holds()
    flip(log / SEGMENT, 40_000)
    assert not found.holds()


def test_an_imprint_does_not_hold_where_a_file_has_gone(log):
    found = imprint_of(look_at([parse_source(f"metadata-log:{log}")]), OPTIONS)
    assert found is not None
    (log / NEWEST).unlink()
    assert not found.holds()


def test_of_a_file_that_went_since_it_was_listed_there_is_none(log):
    intake = look_at([parse_source(f"metadata-log:{log}")])
    (log / NEWEST).unlink()
    assert imprint_of(intake, OPTIONS) is None


def test_of_a_pipe_among_the_segments_there_is_none(log):
    os.mkfifo(log / f"{999:020}.log")
    assert imprint_of(look_at([parse_source(f"metadata-log:{log}")]), OPTIONS) is None


def test_what_lies_at_a_uri_has_one_as_a_file_of_this_machine(log):
    before = imprint_of(look_at([Source("metadata-log", log.as_uri())]), OPTIONS)
    assert before is not None
    assert before.holds()
    append(log)
    assert not before.holds()
    assert imprint_of(look_at([Source("metadata-log", log.as_uri())]), OPTIONS) != before


def test_of_a_cluster_that_is_asked_again_it_is_gone():
    intake = Intake(sources=(Source("live", "h:1"),), ask=lambda: Listing(rows=()))
    first = replace(intake, listing=Listing(rows=()), imprint=Imprint("of the first answer", {}))
    assert ask_live(first).imprint is None


def test_where_nothing_is_read_there_is_none():
    assert imprint_of(Intake(sources=()), OPTIONS) is None


def listed(*rows, **told):
    listing = Listing(rows=rows, **({"told": frozenset({TOPICS, USERS})} | told))
    found = imprint_of(Intake(sources=(Source("live", "h:1"),), listing=listing), OPTIONS)
    assert found is not None
    return found.digest


def test_a_listing_is_the_same_in_another_order_and_another_with_another_row():
    one, two = acl_row("live", *BINDING), acl_row("live", *BINDING[:-1], "DENY")
    assert listed(one, two) == listed(two, one)
    reject = SourceRow(kind=REJECT, source="live", reason="code 99")
    others = [
        listed(one),
        listed(one, two, reject),
        listed(one, two, told=frozenset({TOPICS})),
        listed(one, two, notes=("groups: not read",)),
        listed(one, two, cluster_id="c"),
    ]
    assert len({*others, listed(one, two)}) == 6
