"""What runs of ``scale`` cost → a table in Markdown, and the same table in a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

BEGIN, END = "<!-- scale: made by make bench-scale DOCS=1 -->", "<!-- scale: end -->"
_GIB = 2**30
_NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a run cost, of one case, in a process of its own.

    Attributes:
        day: when, as an ISO date.
        machine: its cores.
        heap: what Spark's JVM may take for its heap, as ``ACLKIT_DRIVER_MEMORY`` says it.
        rulings: rows of ``explain_ruling``; None where nothing was published.
        wall: seconds.
        cpu: seconds of all its processes.
        memory: the most bytes that all its processes held together, of which ``jvm``, ``driver``
            (the Python program) and ``workers`` (Spark's Python) are the most of each.
        spilled_memory: bytes that Spark's tasks had in memory before they spilled them.
        spilled_disk: the same bytes as they were written.
        temporary: the most bytes of temporary files, what is shuffled and spilled among them.
        duckdb: the most bytes of DuckDB's temporary files.
        stopped: why there is no result, if there is none.
    """

    case: str
    day: str
    machine: str
    heap: str
    decisions: int
    acls: int
    rulings: int | None
    wall: float
    cpu: float
    jobs: int
    memory: int
    jvm: int
    driver: int
    workers: int
    spilled_memory: int
    spilled_disk: int
    temporary: int
    duckdb: int
    stopped: str | None = None

    def each(self, count: int | None) -> float | None:
        """Return the seconds for each of so many things; None of a run that was stopped."""
        return self.wall / count if count and self.stopped is None else None


COSTS: dict[str, Callable[[Row], float | None]] = {
    "decision": lambda row: row.each(row.decisions),
    "ruling": lambda row: row.each(row.rulings),
    "ACL": lambda row: row.each(row.acls),
}
"""What a run is divided by → the seconds for each."""


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of each case, the smallest case first."""
    return sorted({row.case: row for row in rows}.values(), key=lambda row: row.decisions)


def table(rows: Sequence[Row]) -> str:
    """Return a table with a column for each run, and a sentence for each that was stopped."""
    header = ["", *(row.case for row in rows)]
    lines = [header, ["---", *("---:" for _ in rows)]]
    lines += [[label, *map(cell, rows)] for label, cell in _LINES.items()]
    stopped = [f"\n{row.case} was stopped: {row.stopped}." for row in rows if row.stopped]
    machines = "; ".join(dict.fromkeys(row.machine for row in rows))
    return "\n".join([f"{machines}.", "", *(f"| {' | '.join(line)} |" for line in lines), *stopped])


def replaced(page: str, text: str) -> str:
    """Return a page with a text in the place of what stood between the marks.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected {BEGIN!r} and {END!r} in the page")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def amount(seconds: float) -> str:
    """Return seconds with three figures and the unit that fits: nanoseconds to seconds."""
    for unit, size in (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)):
        # What rounds to a thousand is one of the next.
        if seconds < 999.5 * size:
            return f"{_figures(seconds / size)} {unit}"
    return f"{_figures(seconds)} s"


def many(count: int) -> str:
    """Return a number as one says it: ``80 million``, ``10 billion``."""
    for word, size in (("billion", 10**9), ("million", 10**6)):
        if count >= size:
            return f"{_figures(count / size).removesuffix('.0').removesuffix('.00')} {word}"
    return f"{count:,}"


def _figures(number: float) -> str:
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"


def _cost(of: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        seconds = COSTS[of](row)
        return _NONE if seconds is None else amount(seconds)

    return cell


def _gib(size: int) -> str:
    return _figures(size / _GIB) if size else "0"


_LINES: dict[str, Callable[[Row], str]] = {
    "decisions": lambda row: many(row.decisions),
    "ACLs": lambda row: f"{row.acls:,}",
    "rulings": lambda row: _NONE if row.rulings is None else f"{row.rulings:,}",
    "wall, s": lambda row: f"{row.wall:,.0f}",
    "CPU, s": lambda row: f"{row.cpu:,.0f}",
    "Spark jobs": lambda row: f"{row.jobs}",
    "memory at most, GiB": lambda row: _gib(row.memory),
    "the JVM alone, GiB": lambda row: _gib(row.jvm),
    "the Python driver alone, GiB": lambda row: _gib(row.driver),
    "Spark's Python workers alone, GiB": lambda row: _gib(row.workers),
    "heap allowed": lambda row: row.heap,
    "spilled by Spark from memory, GiB": lambda row: _gib(row.spilled_memory),
    "spilled by Spark to disk, GiB": lambda row: _gib(row.spilled_disk),
    "spilled by DuckDB at most, GiB": lambda row: _gib(row.duckdb),
    "temporary files at most, GiB": lambda row: _gib(row.temporary),
    **{f"wall for each {of}": _cost(of) for of in COSTS},
    "result": lambda row: "stopped" if row.stopped else "published",
    "day": lambda row: row.day,
}
