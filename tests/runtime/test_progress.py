"""Progress: what stays of a step, and what a terminal shows while it goes on."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

import pytest

from aclkit.runtime import progress
from aclkit.runtime.progress import Line, step
from tests.runtime.terminal import CLEARED, Terminal, wait_for


def seconds_later(monkeypatch):
    clock = iter(range(0, 1_000, 2))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))


@pytest.mark.parametrize(
    ("stream", "settings"),
    [
        (io.StringIO(), {}),
        (Terminal(), {"is_shared": True}),
        (Terminal(), {"dumb": True}),
    ],
)
def test_each_line_stays_where_none_can_be_rewritten(log_to, monkeypatch, stream, settings):
    told = log_to(stream, **settings)
    seconds_later(monkeypatch)
    with step("deciding"):
        pass
    assert told.getvalue() == "deciding …\ndeciding: 2.0 s\n"


def test_a_terminal_sees_what_is_done_and_keeps_how_long_it_took(log_to, monkeypatch):
    told = log_to(Terminal())
    done = iter(range(1, 1_000_000))
    progress.measure_by(lambda: f"{next(done)} of 64 tasks")
    with step("deciding"):
        wait_for(told, f"{CLEARED}deciding … 2 of 64 tasks")
    assert told.getvalue().startswith(f"{CLEARED}deciding …{CLEARED}deciding … 1 of 64 tasks")
    assert told.getvalue().endswith(f"tasks{CLEARED}")
    seconds_later(monkeypatch)
    with step("writing"):
        pass
    assert told.getvalue().endswith(f"{CLEARED}writing …{CLEARED}writing: 2.0 s\n")


def test_other_lines_take_the_place_of_the_one_that_is_rewritten(log_to, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 1_000)
    told = log_to(Terminal())
    with step("outer"), step("inner"):
        logging.getLogger("aclkit.x").info("note")
    assert told.getvalue() == f"{CLEARED}outer …{CLEARED}inner …{CLEARED}note\n"


def test_a_line_is_one_line_and_acts_on_no_terminal(log_to, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 1_000)
    monkeypatch.setenv("COLUMNS", "20")
    told = log_to(Terminal())
    with step("a\x1b[2J" + "b" * 50):
        pass
    assert told.getvalue() == CLEARED + r"a\u{1b}[2J" + "b" * 9 + CLEARED


def test_a_measure_that_fails_is_left_out(log_to):
    told = log_to(Terminal())
    progress.measure_by(lambda: str(1 / 0))
    with step("deciding"):
        wait_for(told, f"deciding …{CLEARED}deciding …{CLEARED}deciding …")
    assert told.getvalue().replace(f"{CLEARED}deciding …", "") == CLEARED


def test_an_error_leaves_no_line_behind(log_to):
    told = log_to(Terminal())
    with pytest.raises(ZeroDivisionError), step("deciding"):
        raise ZeroDivisionError
    assert told.getvalue().endswith(CLEARED)


def test_a_terminal_that_went_away_disturbs_nobody():
    stream = Terminal()
    stream.close()
    with Line(stream).during("deciding"):
        pass
