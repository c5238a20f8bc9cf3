"""Logs of tests → what a reader makes of them, and what it must make of them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from aclkit.questions.usage.access_days import DAY
from aclkit.questions.usage.check import UNDETERMINED, UNREADABLE, Judge, check
from aclkit.questions.usage.clock import Clock, parse_zone, to_datetime
from aclkit.questions.usage.entry import read_entries
from aclkit.questions.usage.file_reads import FileRead, LogFileReader, chains_of
from aclkit.questions.usage.log_file import KnownFile
from aclkit.questions.usage.past import ClusterPast, rulings_of

SECOND = 1_000_000
ROW = (
    "principal", "host", "operation", "resource_type", "resource_name", "request_name",
    "decision", "rule", "deciding_acl_id", "verdict", "expected_decision", "expected_rule",
    "expected_acl_id", "reason",
)  # fmt: skip


def expected(lines: Iterable[bytes], past: ClusterPast, zone: str = "UTC", skew: int = SECOND):
    """Judge each line by itself: the rule, without a shortcut. Row → lines, first and last."""
    found = defaultdict(list)
    for entry in read_entries(lines, Clock(parse_zone(zone))):
        time = entry.span and entry.span[0]
        day = None if time is None else time // DAY
        statement = entry.statement
        if statement is None:
            verdict = UNDETERMINED if entry.is_ambiguous else UNREADABLE
            said = (*[None] * 9, verdict, None, None, None, entry.problem)
        else:
            request = statement.request
            rulings = rulings_of(past, past.representative(request))
            one = check(statement, entry.span, past, rulings, skew)
            ruling = one.held and one.held.ruling
            said = (
                *(getattr(request, name) for name in ROW[:5]), statement.request_name,
                statement.decision, statement.rule, one.acl_id, one.verdict,
                ruling and ruling.decision, ruling and ruling.rule,
                ruling and ruling.acl and ruling.acl.acl_id, one.reason,
            )  # fmt: skip
        found[day, said].append(time)
    return {
        key: (len(times), *((min(times), max(times)) if times[0] is not None else (None, None)))
        for key, times in found.items()
    }


def found_in(reads: Iterable[FileRead]):
    """Return the rows of readings in the same form."""
    return rows_in(row for read in reads for batch in read.batches for row in batch.to_pylist())


def rows_in(rows: Iterable[dict]):
    """Add up rows alike."""
    found = {}
    for row in rows:
        day = row["log_day"] and int(row["log_day"].timestamp()) * SECOND // DAY
        key = day, tuple(row[name] for name in ROW)
        first, last = (_micros(row[name]) for name in ("first_at", "last_at"))
        lines = row["lines"]
        if key in found:
            old, old_first, old_last = found[key]
            lines += old
            if first is not None:
                first, last = min(first, old_first), max(last, old_last)
        found[key] = lines, first, last
    return found


def _micros(time):
    return None if time is None else (time - to_datetime(0)) // (to_datetime(1) - to_datetime(0))


def work(past: ClusterPast, **changed) -> LogFileReader:
    """Return what reads."""
    shared = {"judge": Judge(past, SECOND), "zone": "UTC", "cluster_id": "c", "run_number": 7}
    return LogFileReader(**(shared | changed))


class Nights:
    """Reads files night after night, and keeps what is kept."""

    def __init__(self, past: ClusterPast) -> None:
        self.past = past
        self.known: dict[str, KnownFile] = {}
        self.rows: list[dict] = []
        self.number = 7

    def read(self, *paths: Path, **changed) -> int:
        """Read files; return how many lines were judged."""
        self.number += 1
        reader = work(self.past, **{"run_number": self.number} | changed)
        lines = 0
        for chain in chains_of([str(path) for path in paths], [*self.known.values()]):
            for read in reader.read(chain):
                self._keep(read)
                lines += read.lines
        return lines

    def _keep(self, read: FileRead) -> None:
        file_id = read.known.file_id
        if read.gone != "none":
            self.rows = [row for row in self.rows if row["file_id"] != file_id
                         or (read.gone == "open" and not row["is_open"])]  # fmt: skip
        self.known[file_id] = read.known
        self.rows += [row for batch in read.batches for row in batch.to_pylist()]

    @property
    def found(self):
        """All that is kept."""
        return rows_in(self.rows)


def random_lines(
    chance: random.Random, count: int, texts: Sequence[str], start: int
) -> list[bytes]:
    """Make a log of some hundred lines, most of them plain, in about the order of time."""
    time, lines = start, []
    for _ in range(count):
        time += chance.choice([0, 1_000, 250_000, 3 * SECOND, 400 * SECOND])
        at = to_datetime(time + chance.choice([0, 0, 0, -2 * SECOND]))
        stamp = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}"
        text = chance.choice(texts)
        lines.append(
            chance.choices(
                [
                    f"[{stamp}] INFO {text} (kafka.authorizer.logger)",
                    f"[{stamp}] DEBUG {text}",
                    f"{stamp} INFO {text}",
                    f"kafka-1 | [{stamp}] INFO {text}",
                    f'{{"timestamp":"{at:%Y-%m-%dT%H:%M:%S.%fZ}","message":"{text}"}}',
                    "a line of another kind",
                    "",
                    f"[{stamp}] INFO {text[:50]}\n{text[50:]}",
                    text,
                ],
                weights=[40, 10, 10, 3, 3, 2, 2, 2, 1],
            )[0].encode()
        )
    return b"".join(line + b"\n" for line in lines).splitlines(keepends=True)
