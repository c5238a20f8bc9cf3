"""A log file → rows of access_day: the short ways have what the long way has, in any nights."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from dataclasses import replace
from itertools import pairwise

import pytest

from aclkit.kafka.authorizer.audit import Wording, rule_text
from aclkit.questions.usage import access_days, file_reads, log_file, reading
from aclkit.questions.usage.check import UNDETERMINED
from aclkit.questions.usage.clock import Clock, parse_zone
from aclkit.questions.usage.coverage import Activities
from aclkit.questions.usage.file_reads import chains_of
from aclkit.questions.usage.log_file import read_lines
from aclkit.questions.usage.reading import Shapes
from aclkit.rules.decide.rules import Ruling
from aclkit.runtime import read_progress
from aclkit.runtime.progress import measure
from aclkit.runtime.read_progress import ReadProgress, followed, size_of
from tests.factories import acl
from tests.questions.usage.pasts import LOG, Step, past_of, secure_past
from tests.questions.usage.reading import (
    SECOND,
    Nights,
    expected,
    found_in,
    random_lines,
    work,
)
from tests.runtime.terminal import Terminal

HOUR = 3_600 * SECOND
START = 1_795_000_000 * SECOND
READ = acl("orders", acl_id="read")
TWIN = acl("ord", pattern_type="PREFIXED", acl_id="twin")
DENY = acl("*", permission_type="DENY", principal="User:b", acl_id="deny")
PAST = past_of([
    Step(1, START + 10 * SECOND, came=READ),
    Step(2, START + HOUR, came=TWIN),
    Step(3, START + 2 * HOUR, went="read"),
    Step(4, START + 3 * HOUR, came=DENY),
    Step(5, START + 20 * HOUR, went="twin"),
])  # fmt: skip


def messages():
    rulings = [
        Ruling("ALLOWED", "MatchingAcl", READ), Ruling("ALLOWED", "MatchingAcl", TWIN),
        Ruling("DENIED", "MatchingAcl", DENY), Ruling("DENIED", "DefaultDeny"),
        Ruling("ALLOWED", "SuperUser"),
    ]  # fmt: skip
    for principal in ("User:a", "User:b", "User:x is Denied operation = READ from host = 1.1.1.1"):
        for name in ("orders", "orders.x", "Topic:LITERAL:y for request = Fetch"):
            for ruling in rulings:
                verb = "Allowed" if ruling.decision == "ALLOWED" else "Denied"
                rule = rule_text(ruling, Wording.SINCE_4_2, knows_globs=False)
                yield (
                    f"Principal = {principal} is {verb} operation = READ from host = 10.0.0.1 on "
                    f"resource = Topic:LITERAL:{name} for request = Fetch with "
                    f"resourceRefCount = 1 based on rule {rule}"
                )


TEXTS = list(messages())


def read_whole(path, past=PAST):
    nights = Nights(past)
    nights.read(path)
    return nights.found


def test_a_real_log_gives_the_rows_that_its_lines_give_one_by_one():
    past = secure_past()
    assert read_whole(LOG, past) == expected(LOG.read_bytes().splitlines(keepends=True), past)


@pytest.mark.parametrize("seed", range(30))
def test_random_logs_give_the_rows_that_their_lines_give_one_by_one(tmp_path, seed, monkeypatch):
    chance = random.Random(seed)
    if seed % 3 == 0:
        monkeypatch.setattr(access_days, "_MOST_ROWS", chance.randint(1, 20))
        monkeypatch.setattr(reading, "_MOST_MESSAGES", chance.randint(1, 20))
        monkeypatch.setattr(reading, "_MOST_MINUTES", 2)
    path = tmp_path / "a.log"
    lines = random_lines(chance, 400, TEXTS, START - HOUR)
    path.write_bytes(b"".join(lines))
    past = replace(PAST, read_at=START + 24 * HOUR)
    assert read_whole(path, past) == expected(path.read_bytes().splitlines(keepends=True), past)


@pytest.mark.parametrize("seed", range(30))
def test_a_file_that_grows_rotates_and_is_packed_gives_what_the_whole_gives(tmp_path, seed):
    """Cut anywhere, within a line too; renamed, packed, copied and emptied in between."""
    chance = random.Random(seed)
    lines = random_lines(chance, 300, TEXTS, START - HOUR)
    at = [0, *sorted(chance.sample(range(len(lines)), 2)), len(lines)]
    generations = [b"".join(lines[a:b]) for a, b in pairwise(at)]
    whole: dict = {}
    for content in generations:
        for key, (count, first, last) in expected(content.splitlines(keepends=True), PAST).items():
            old = whole.get(key, (0, first, last))
            ends = (None, None) if first is None else (min(first, old[1]), max(last, old[2]))
            whole[key] = (count + old[0], *ends)
    nights, log = Nights(PAST), tmp_path / "kafka-authorizer.log"
    for number, content in enumerate(generations):
        size = 0
        while size < len(content):
            size = min(len(content), size + chance.randint(1, len(content)))
            log.write_bytes(content[:size])
            if chance.random() < 0.8:
                nights.read(*sorted(tmp_path.glob("kafka-authorizer.log*")))
        rotated = tmp_path / f"kafka-authorizer.log.{number}"
        if chance.random() < 0.5:
            log.rename(rotated)
        else:  # copytruncate
            shutil.copy(log, rotated)
            log.write_bytes(b"")
        if chance.random() < 0.5:
            packed = tmp_path / f"kafka-authorizer.log.{number}.gz"
            packed.write_bytes(gzip.compress(rotated.read_bytes()))
            if chance.random() < 0.7:
                rotated.unlink()
    everything = [path for path in tmp_path.glob("kafka-authorizer.log*") if path.stat().st_size]
    nights.read(*everything)
    assert nights.found == whole
    assert nights.read(*everything) == 0
    assert nights.found == whole


def test_only_new_bytes_of_a_growing_file_are_read(tmp_path):
    log, nights = tmp_path / "a.log", Nights(secure_past())
    data = LOG.read_bytes()
    half = data.index(b"\n", len(data) // 2) + 1
    log.write_bytes(data[:half])
    first = nights.read(log)
    log.write_bytes(data)
    # The last line of the first night counts in both: more of it could have come.
    assert (first + nights.read(log), nights.read(log)) == (370, 0)
    (known,) = nights.known.values()
    assert (known.seen_bytes, known.source) == (len(data), str(log))


def test_lines_newer_than_the_acls_are_decided_once_these_are_known(tmp_path):
    log = tmp_path / "a.log"
    lines = random_lines(random.Random(1), 200, TEXTS[:5], START - HOUR)
    log.write_bytes(b"".join(lines))
    early = replace(PAST, read_at=START + HOUR)
    nights = Nights(early)
    assert nights.read(log) == sum(count for count, *_ in expected(lines, early).values())
    assert nights.found == expected(lines, early)
    nights.past = replace(PAST, read_at=START + 100 * HOUR)
    assert 0 < nights.read(log) < len(lines)
    assert nights.found == expected(lines, nights.past)
    assert nights.read(log) == 0


def test_another_zone_reads_a_known_file_from_its_beginning(tmp_path):
    log, nights = tmp_path / "a.log", Nights(PAST)
    lines = random_lines(random.Random(2), 100, TEXTS, START)
    log.write_bytes(b"".join(lines))
    nights.read(log)
    nights.read(log, zone="+02:00")
    assert nights.found == expected(lines, PAST, zone="+02:00")
    assert len(nights.known) == 1


def test_what_is_read_again_takes_the_place_of_what_was_read(tmp_path):
    log, copy, nights = tmp_path / "a.log", tmp_path / "b.log", Nights(PAST)
    lines = random_lines(random.Random(3), 100, TEXTS, START)
    log.write_bytes(b"".join(lines))
    copy.write_bytes(b"".join(lines[:60]))
    nights.read(log, copy)
    assert nights.read(copy, log, is_anew=True) > 0
    assert nights.found == expected(lines, PAST)


def test_the_rest_of_a_damaged_archive_is_one_unreadable_line_until_it_is_whole(tmp_path):
    packed, nights = tmp_path / "a.log.gz", Nights(PAST)
    lines = random_lines(random.Random(4), 2_000, TEXTS, START)
    whole = gzip.compress(b"".join(lines))
    packed.write_bytes(whole[: len(whole) // 2])
    nights.read(packed)
    reasons = [row["reason"] for row in nights.rows if row["verdict"] == "unreadable"]
    assert any("gzipped file cannot be read" in reason for reason in reasons)
    packed.write_bytes(whole)
    nights.read(packed)
    assert nights.found == expected(lines, PAST)
    assert nights.read(packed) == 0


def test_an_hour_that_the_clock_showed_twice_is_judged_as_both(tmp_path):
    log, nights = tmp_path / "a.log", Nights(PAST)
    lines = [f"[2026-10-25 02:{n:02}:00,000] INFO {TEXTS[0]}\n".encode() for n in range(50, 60)]
    log.write_bytes(b"".join(lines))
    nights.read(log, zone="Europe/Berlin")
    assert nights.found == expected(lines, PAST, zone="Europe/Berlin")


def test_files_that_begin_alike_are_read_one_after_the_other(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    lines = random_lines(random.Random(6), 100, TEXTS, START)
    for path, part in zip(paths, (lines[:50], lines, lines[60:]), strict=True):
        path.write_bytes(b"".join(part))
    chains = chains_of([*map(str, paths)], [])
    assert [len(chain.files) for chain in chains] == [2, 1]
    whole = expected(lines, PAST)
    assert found_in(work(PAST).read(chains[0])) == whole


def test_names_with_the_words_of_kafka_stay_undetermined(tmp_path):
    log = tmp_path / "a.log"
    hostile = TEXTS[0].replace("User:a", "User:x is Denied operation = READ from host = 1 on "
                               "resource = Topic:LITERAL:y")  # fmt: skip
    log.write_text(f"[2026-11-20 10:00:00,000] INFO {hostile}\n" * 3, encoding="utf-8")
    ((_, said),) = read_whole(log)
    assert said[9] == UNDETERMINED


class Heard(ReadProgress):
    """Keeps what is told."""

    size = records = 0

    def add(self, size, records=0):
        self.size += size
        self.records += records


@pytest.mark.parametrize("is_packed", [False, True])
def test_every_byte_on_the_disk_is_told(tmp_path, is_packed):
    path = tmp_path / "kafka-authorizer.log"
    path.write_bytes(gzip.compress(LOG.read_bytes()) if is_packed else LOG.read_bytes())
    heard = Heard()
    assert len(list(read_lines(str(path), heard))) == 369
    assert heard.size == path.stat().st_size


def test_a_reader_tells_its_lines_and_its_share(tmp_path, log_to, monkeypatch):
    monkeypatch.setattr(read_progress, "_PAUSE", 0)
    monkeypatch.setattr(read_progress, "_STEP", 1)
    monkeypatch.setattr(log_file, "_BUFFER", 4096)
    monkeypatch.setattr(reading, "_LINES_TOLD", 100)
    log_to(Terminal())
    told = []
    count = access_days.LineCounter.count

    def counted(*line):
        count(*line)
        told.append(measure())

    monkeypatch.setattr(access_days.LineCounter, "count", counted)
    with followed([size_of(str(LOG))]) as board:
        (chain,) = chains_of([str(LOG)], [])
        work(secure_past(), board=board).read(chain)
        assert re.fullmatch(r"100 records read, \d\d% of the bytes", told[150])
        assert measure() == ""


@pytest.mark.parametrize("seed", range(20))
def test_a_log_with_changed_bytes_gives_the_rows_that_its_lines_give_one_by_one(tmp_path, seed):
    chance = random.Random(seed)
    content = bytearray(b"".join(random_lines(chance, 150, TEXTS, START)))
    for _ in range(150):
        at = chance.randrange(len(content))
        how = chance.random()
        if how < 0.6:
            content[at] = chance.choice(b'\n\r \0[]{}"=:,.0123456789-TZ\xff\xc3PI\x1b')
        elif how < 0.8:
            size = chance.randrange(60)
            content[at:at] = content[at - 200 :][:size]
        else:
            del content[at : at + chance.randrange(1, 40)]
    path = tmp_path / "a.log"
    path.write_bytes(bytes(content))
    lines = [line + b"\n" for line in bytes(content).split(b"\n")]
    assert read_whole(path) == expected(lines, PAST)


@pytest.mark.parametrize("how", ["renamed", "emptied", "removed"])
def test_a_file_that_is_rotated_while_it_is_read_counts_the_next_time(tmp_path, monkeypatch, how):
    log, rotated = tmp_path / "a.log", tmp_path / "a.log.1"
    lines = random_lines(random.Random(7), 100, TEXTS, START)
    log.write_bytes(b"".join(lines[:60]))
    nights, read = Nights(PAST), reading.read_log

    def rotating(stream, *shared, **more):
        shutil.copy(log, rotated)
        log.unlink()
        if how != "removed":
            log.write_bytes(b"".join(lines[60:]) if how == "renamed" else b"")
        return read(stream, *shared, **more)

    with monkeypatch.context() as patch:
        patch.setattr(file_reads, "read_log", rotating)
        assert nights.read(log) == 0
    log.write_bytes(b"".join(lines[60:]))
    nights.read(rotated, log)
    whole = expected(lines[:60], PAST)
    for key, (count, first, last) in expected(lines[60:], PAST).items():
        old, old_first, old_last = whole.get(key, (0, first, last))
        ends = (None, None) if first is None else (min(first, old_first), max(last, old_last))
        whole[key] = (old + count, *ends)
    assert nights.found == whole


def test_a_log_at_an_address_is_read_on_too(tmp_path):
    log, nights = tmp_path / "a.log", Nights(PAST)
    lines = random_lines(random.Random(8), 100, TEXTS, START)
    for part in (50, 100):
        log.write_bytes(b"".join(lines[:part]))
        nights.read(log.as_uri())
        assert nights.found == expected(lines[:part], PAST)


TEXT = TEXTS[0]


def ecs(time, text=TEXT):
    return json.dumps({"@timestamp": time, "level": "INFO", "message": text})


LAYOUTS = {
    "json": lambda n: ecs(f"2026-11-20T10:{n:02}:00.123Z"),
    "json after the message": lambda n: json.dumps(
        {"message": TEXT, "timestamp": f"2026-11-20T10:{n:02}:00.123+01:00"}
    ),
    "pod": lambda n: f"kafka-0 kafka [2026-11-20 10:{n:02}:00,123] INFO {TEXT}",
    "viewer": lambda n: (
        f"2026-11-20T11:{n:02}:00.1Z kafka-0 | [2026-11-20 10:{n:02}:00,123] INFO {TEXT}"
    ),
    "cri": lambda n: (
        f"2026-11-20T11:{n:02}:00.1Z stdout F [2026-11-20 10:{n:02}:00,123] INFO {TEXT}"
    ),
    "cri alone": lambda n: f"2026-11-20T11:{n:02}:00.1Z stdout F INFO {TEXT}",
    "docker": lambda n: json.dumps(
        {"log": f"[2026-11-20 10:{n:02}:00,123] INFO {TEXT}\n", "stream": "stdout",
         "time": f"2026-11-20T11:{n:02}:00.1Z"},
        separators=(",", ":"),
    ),
    "zone": lambda n: f"2026-11-20 10:{n:02}:00,123 CET INFO {TEXT}",
    "utc": lambda n: f"x 2026-11-20 10:{n:02}:00,123 UTC INFO {TEXT}",
    "two times": lambda n: json.dumps(
        {"time": f"2026-11-20T10:{n:02}:00Z", "ts": f"2026-11-20T10:{min(n, 3):02}:00Z",
         "message": TEXT}
    ),
    "in the name": lambda n: ecs(
        "2026-11-20T10:00:00Z", TEXT.replace("orders", f"t 2026-11-20 10:{n:02}:00 x")
    ),
    "a clock that is none": lambda n: ecs(f"2026-11-20T{20 + n % 9}:00:00Z"),
    "short hour": lambda n: f"kafka [2026-10-25 02:{n:02}:00,123] INFO {TEXT}",
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_a_layout_gives_the_rows_that_its_lines_give_one_by_one(tmp_path, layout, zone):
    lines = [f"{LAYOUTS[layout](n)}\n".encode() for n in range(50)]
    log, nights = tmp_path / "a.log", Nights(PAST)
    log.write_bytes(b"".join(lines))
    nights.read(log, zone=zone)
    assert nights.found == expected(lines, PAST, zone=zone)


@pytest.mark.parametrize("layout", ["json", "pod", "viewer", "cri", "docker"])
def test_of_lines_alike_one_is_read_the_long_way(layout, monkeypatch):
    read = []
    one = reading.read_alone
    monkeypatch.setattr(reading, "read_alone", lambda *raw: read.append(raw) or one(*raw))
    shapes = Shapes(Clock(parse_zone("UTC")), Activities())
    found = [shapes.find(f"{LAYOUTS[layout](n)}\n".encode()) for n in range(20)]
    assert None not in found
    assert len({time for _, time in found}) == 20
    assert len(read) == 1


def test_a_line_after_a_piece_is_the_rest_of_it(tmp_path):
    """A name of 16 kB may be cut so that its rest looks like a line."""
    whole = LAYOUTS["cri"](1)
    hostile = f"2026-11-20T11:00:00.1Z stdout P [2026-11-20 10:00:00,123] INFO {TEXT[:40]}"
    lines = [f"{line}\n".encode() for line in (whole, hostile, LAYOUTS["cri"](2), whole)]
    log, nights = tmp_path / "a.log", Nights(PAST)
    log.write_bytes(b"".join(lines))
    nights.read(log)
    assert nights.found == expected(lines, PAST)


def test_where_no_line_is_like_another_shapes_are_given_up(monkeypatch):
    monkeypatch.setattr(reading, "_CREDIT", 3)
    shapes = Shapes(Clock(parse_zone("UTC")), Activities())
    lines = [f"{n} {LAYOUTS['pod'](n)}\n".encode() for n in range(10)]
    assert [shapes.find(line) is None for line in lines] == [False] * 3 + [True] * 7
