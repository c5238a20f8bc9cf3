"""Lines that differ in their times alone: read as the long way reads them, or left to it."""

from __future__ import annotations

import json

import pytest

from aclkit.questions.usage import reading
from aclkit.questions.usage.clock import Clock, parse_zone
from aclkit.questions.usage.coverage import Activities
from aclkit.questions.usage.reading import Shapes
from tests.questions.usage.reading import Nights, expected
from tests.questions.usage.test_reading import PAST, TEXTS

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
