"""What aclkit needs around it → what is there, and what to do.

A check only looks: nothing is written or fetched, and nothing started but ``java -version``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, NamedTuple

from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.model.phrases import number_of
from aclkit.model.unread import INSTEAD, RIGHT, Unread, right_acl, unread_note
from aclkit.runtime.deadline import Deadline, start
from aclkit.runtime.environment import (
    LEAST_JAVA,
    jar_folder,
    java_and_release,
    missing_package,
    not_installed,
    require_room,
    require_writable,
    room_at,
)
from aclkit.runtime.memory import heap_size, memory_limit
from aclkit.warehouse.job_run import JOB_RUN
from aclkit.warehouse.location import Location
from aclkit.warehouse.lock import lock_holder
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.storage import newest_version

State = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """What is looked at.

    Attributes:
        warehouse: folder or URI, where one was named or found.
        sources: KIND:PATH each.
        command_config: the client's file for a live source.
        seconds: how long each check may take.
        env: the environment.
    """

    warehouse: str | None = None
    sources: Sequence[str] = ()
    command_config: str | None = None
    seconds: float = 10.0
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)


class CheckResult(NamedTuple):
    """What a check has seen where it did not fail; ``lacks`` have rows of their own."""

    found: str
    state: State = "ok"
    advice: str | None = None
    lacks: tuple[tuple[str, str], ...] = ()


class Outcome(NamedTuple):
    """What ``aclkit doctor`` reports for a check; ``exit_code`` is 0 unless it failed."""

    check: str
    state: State
    found: str
    what_to_do: str | None
    exit_code: int


class Check(NamedTuple):
    """A look at one thing; it raises an AclkitError or OSError where that will not do."""

    name: str
    look: Callable[[CheckContext], CheckResult]
    advice: str


def run_checks(checks: Sequence[Check], around: CheckContext) -> Iterator[Outcome]:
    """Do all checks at once, and yield their outcomes in their order.

    A check that exceeds the time limit is abandoned: a network disk may never answer.
    """
    deadline = Deadline(around.seconds)
    started = [(check, start(partial(_outcome, check, around), check.name)) for check in checks]
    for check, outcome in started:
        try:
            yield from outcome.result(deadline.left)
        except TimeoutError:
            silent = SurroundingsError(f"no answer within {around.seconds:g} s")
            yield _failed(check, silent)


def _outcome(check: Check, around: CheckContext) -> list[Outcome]:
    try:
        seen = check.look(around)
    except ModuleNotFoundError as error:
        return [_failed(check, not_installed("this", missing_package(error)))]
    except AclkitError as error:
        return [_failed(check, error)]
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return [_failed(check, SurroundingsError(f"{where}{error.strerror or error}"))]
    is_fine = seen.state == "ok"
    own = Outcome(check.name, seen.state, seen.found, None if is_fine else seen.advice, 0)
    return [own, *(Outcome(_RIGHTS, "warning", lack, advice, 0) for lack, advice in seen.lacks)]


_RIGHTS: Final = "rights"
"""The check of a row about a part of a live cluster that cannot be read."""


def _failed(check: Check, error: AclkitError) -> Outcome:
    return Outcome(check.name, "failed", str(error), check.advice, error.exit_code)


def see_java(around: CheckContext) -> CheckResult:
    """Find the Java that Spark will take; few runs need one."""
    if slim := _slim():
        return slim
    try:
        java, release = java_and_release(around.env)
    except SurroundingsError as error:
        return CheckResult(str(error), "warning", _FOR_JAVA)
    return CheckResult(f"Java {release} at {java}")


def see_memory(around: CheckContext) -> CheckResult:
    """Compare the memory of the machine with what Spark's heap may take."""
    heap, limit = heap_size(around.env), memory_limit()
    if limit is None:
        return CheckResult("the amount of memory is unknown")
    found = f"{_gigabytes(limit)}, Spark may take {_gigabytes(heap)}"
    if heap > limit * 3 // 4:
        half = max(1, limit // 2 >> 30)
        return CheckResult(
            found, "warning", f"Leave memory for the rest: ACLKIT_DRIVER_MEMORY={half}g"
        )
    return CheckResult(found)


def see_jars(around: CheckContext) -> CheckResult:
    """Compare Delta's jars with those that are expected, byte for byte."""
    if slim := _slim():
        return slim
    from aclkit.runtime.jars import missing_jars
    from aclkit.runtime.spark_release import delta_jars, own_delta, spark_release

    if own := own_delta(around.env):
        return CheckResult(f"Spark {spark_release()} has Delta: {own}; no other is loaded")
    jars, folder = delta_jars(), jar_folder(around.env)
    if missing := missing_jars(jars, folder):
        fetch = f"{jars.command} fetches them; else the first run does, by the network"
        return CheckResult(
            f"{len(missing)} of {len(jars.digests)} are not in {folder}", "warning", fetch
        )
    return CheckResult(f"{jars.name}, {len(jars.digests)} files in {folder}")


def see_disk(around: CheckContext) -> CheckResult:
    """Check the free space for the tables, and for Spark's temporary files."""
    places = {"temporary files": around.env.get("TMPDIR") or tempfile.gettempdir()}
    if around.warehouse is not None and not Location(around.warehouse).is_remote:
        places = {"the warehouse": around.warehouse, **places}
    rooms = {name: room_at(path) for name, path in places.items()}
    for path in places.values():
        require_room(path)
    known = {name: room for name, room in rooms.items() if room is not None}
    found = ", ".join(f"{_gigabytes(room)} free for {name}" for name, room in known.items())
    if any(room < LITTLE_ROOM for room in known.values()):
        return CheckResult(
            found, "warning", f"a large cluster takes more than {_gigabytes(LITTLE_ROOM)}"
        )
    return CheckResult(found or "the free space is unknown")


def see_lock(around: CheckContext) -> CheckResult:
    """See whether a run is at work."""
    if around.warehouse is None:
        return CheckResult("no warehouse given", "skipped")
    place = Location(around.warehouse)
    if place.is_remote:
        # Here, for a local warehouse has none.
        from aclkit.warehouse.lease import lease_until

        until = lease_until(place.files)
        holder = None if until is None else f"its lease ends by {until:%Y-%m-%d %H:%M} UTC"
    elif holder := lock_holder(str(place.folder)):
        holder = f"process {holder}"
    if holder is not None:
        advice = "let it end; a second run waits for --lock-timeout, questions need not"
        return CheckResult(f"a run is at work, {holder}", "warning", advice)
    return CheckResult("free")


def see_warehouse(around: CheckContext) -> CheckResult:
    """Open what is published, and see whether this user may write."""
    if around.warehouse is None:
        return CheckResult("none was named", "skipped", "name it: --warehouse DIR; or aclkit init")
    place = Location(around.warehouse)
    place.require_plain()
    if newest_version(place.files, JOB_RUN) is None:
        return _nothing_yet(place)
    try:
        published = open_warehouse(str(place))
    except UsageError:  # a run was killed before it published, or fenced what was
        return _nothing_yet(place)
    run = published.run
    found = (
        f"{published.place}: cluster {', '.join(published.clusters)}; newest run: {run.job} of "
        f"{run.finished_at:%Y-%m-%d %H:%M} UTC, {run.status}"
    )
    try:
        if not place.is_remote:  # only a write would show whether a bucket is writable
            require_writable(place.folder)
    except AclkitError as error:
        return CheckResult(
            f"{found}; {error}", "warning", "questions work; a run needs write permission"
        )
    return CheckResult(found)


def _nothing_yet(place: Location) -> CheckResult:
    if place.is_remote:
        return CheckResult(f"nothing in {place} yet: the first run creates it")
    folder = place.folder
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise SurroundingsError(f"nothing in {folder} yet, and {there} is not writable")
    return CheckResult(f"nothing in {folder} yet: the first run creates it")


def see_source(around: CheckContext) -> CheckResult:
    """Look at the sources as a run does, and open each file."""
    from aclkit.pipeline.replay.intake import look_at, parse_source

    if not around.sources:
        advice = "Pass --source, or --config FILE.toml with a source."
        return CheckResult("no source given", "skipped", advice)
    config = around.command_config
    sources = [parse_source(text) for text in around.sources]
    intake = look_at(sources, command_config=config, timeout=around.seconds)
    files = [Path(item.path) for item in intake.items if not Location(item.path).is_remote]
    for file in files:
        with file.open("rb") as opened:
            opened.read(1)
    size = sum(file.stat().st_size for file in files)
    cluster = f", cluster {', '.join(intake.cluster_ids)}" if intake.cluster_ids else ""
    much = f": {len(files):,} files, {size:,} bytes" if files else ""
    return CheckResult(f"{', '.join(around.sources)}{much}{cluster}")


def see_broker(around: CheckContext) -> CheckResult:
    """Ask a live source what a run would ask it."""
    from aclkit.pipeline.replay.intake import ask_live, look_at, parse_source
    from aclkit.pipeline.sources.listing import Listing
    from aclkit.pipeline.sources.source_kinds import LIVE

    live = [one for one in map(parse_source, around.sources) if one.kind == LIVE]
    if not live:
        return CheckResult("no live source given", "skipped")
    config = around.command_config
    intake = ask_live(look_at(live, command_config=config, timeout=around.seconds))
    told = intake.listing or Listing(rows=())
    rows = number_of(len(told.rows), "row")
    found = f"{live[0].path} answers: cluster {', '.join(intake.cluster_ids)}, {rows}"
    lacks = tuple(_lack(each, told.asked_by) for each in told.unread)
    ours = {note for note, _ in lacks}
    notes = [note for note in told.notes if note not in ours]
    notes += [f"not honoured: {key}" for key in intake.not_honoured]
    if notes:
        return CheckResult("; ".join((found, *notes)), "warning", "docs/live.md", lacks)
    return CheckResult(found, lacks=lacks)


def _lack(unread: Unread, principal: str) -> tuple[str, str]:
    """Return what cannot be read and what that costs, and what to do about it."""
    advice = INSTEAD[unread.part]
    if unread.cause == RIGHT:
        advice = kafka_acls_command(right_acl(unread.part, principal)) or advice
    return unread_note(unread, principal), advice


LITTLE_ROOM: Final = 2 << 30


def _slim() -> CheckResult | None:
    if find_spec("pyspark") is not None:
        return None
    advice = "most commands do not need it; for very large logs: pip install aclkit"
    return CheckResult("Spark is not installed", "skipped", advice)


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


_FOR_JAVA: Final = (
    f"install Java {LEAST_JAVA} or newer for verify, --decide-with "
    "spark, and logs of more than 24 MiB; nothing else needs it"
)

CHECKS: Final = (
    Check("java", see_java, _FOR_JAVA),
    Check("memory", see_memory, "set ACLKIT_DRIVER_MEMORY to a size such as 4g"),
    Check("jars", see_jars, "remove the file, then: aclkit jars"),
    Check("disk", see_disk, "free some space, or set TMPDIR to another disk"),
    Check("lock", see_lock, "check the permissions of the warehouse and its disk"),
    Check("warehouse", see_warehouse, "fix this, or pass another --warehouse"),
    Check("source", see_source, "check the path and its permissions; kinds: docs/sources.md"),
    Check("broker", see_broker, "check address, port and --command-config, and that it runs"),
)
