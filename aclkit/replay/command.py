"""What a user wants replayed → one replay of one cluster, whatever the kind of its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.progress import step
from aclkit.publish import Run, parse_cluster_id
from aclkit.replay import tables
from aclkit.replay.listing import replay_listing
from aclkit.replay.ranges import is_written_here
from aclkit.replay.replay import ReplayOptions, ReplayResult, replay_log
from aclkit.sources.files import require_file
from aclkit.sources.live import read_client_properties, read_live, read_live_cluster_id
from aclkit.sources.metadata_log import read_cluster_id
from aclkit.sources.readers import WorkItem, metadata_log_items, read_listing
from aclkit.sources.rows import LISTING, SourceRow
from aclkit.sources.spark_source import read_sources

METADATA_LOG: Final = "metadata-log"
ACLS_LIST: Final = "acls-list"
LIVE: Final = "live"
LOG_KINDS: Final = (METADATA_LOG, "dump-log", "records")
KINDS: Final = (*LOG_KINDS, ACLS_LIST, LIVE)


@dataclass(frozen=True, slots=True)
class Source:
    """A ``KIND:PATH`` of the command line; of kind ``live`` the path is HOST:PORT."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """Sources that have been looked at: they exist and are of one sort.

    Attributes:
        sources: as given.
        items: the files to read, of a log.
        cluster_ids: ids that the sources themselves name.
        at: time of a listing.
        client_properties: Kafka client settings of a live source.
        timeout: seconds that a live source may take.
    """

    sources: tuple[Source, ...]
    items: tuple[WorkItem, ...]
    cluster_ids: frozenset[str]
    at: datetime | None = None
    client_properties: dict[str, str] | None = None
    timeout: float = 30.0

    @property
    def is_listing(self) -> bool:
        """Say whether the sources are whole lists of ACLs and not a log."""
        return self.sources[0].kind not in LOG_KINDS


def parse_source(text: str) -> Source:
    """Read ``KIND:PATH``.

    Raises:
        UsageError: the kind is unknown or there is no path.

    >>> parse_source("dump-log:dump.txt")
    Source(kind='dump-log', path='dump.txt')
    """
    kind, _, path = text.partition(":")
    if kind not in KINDS or not path:
        raise UsageError(f"bad source {text!r}: expected KIND:PATH with KIND one of {_listed()}")
    return Source(kind, path)


def look_at(
    sources: Sequence[Source],
    *,
    at: datetime | None = None,
    command_config: str | None = None,
    timeout: float = 30.0,
) -> Intake:
    """Check that sources exist and fit together, before anything is locked or written.

    Raises:
        UsageError: no source, a missing file, or kinds that do not mix.
        DataError: a file of the wrong kind, or sources of different clusters.
    """
    if not sources:
        raise UsageError(f"expected at least one --source KIND:PATH; kinds are {_listed()}")
    listings = [source for source in sources if source.kind not in LOG_KINDS]
    if listings and len(sources) > 1:
        raise UsageError("a listing is a whole state: give it alone, without other sources")
    properties = read_client_properties(command_config) if command_config else {}
    found = {_cluster_id_of(source, properties, timeout) for source in sources} - {None}
    if len(found) > 1:
        names = ", ".join(sorted(map(str, found)))
        raise DataError(f"expected sources of one cluster, found {names}")
    return Intake(
        sources=tuple(sources),
        items=tuple(item for source in sources for item in _items(source)),
        cluster_ids=frozenset(str(cluster) for cluster in found),
        at=at,
        client_properties=properties,
        timeout=timeout,
    )


def replay(run: Run, intake: Intake, cluster: str | None, options: ReplayOptions) -> ReplayResult:
    """Replay sources into the run's tables.

    Raises:
        DataError: another cluster's source, a log for a cluster that follows listings or the
            other way round, or content that contradicts what was read before.
    """
    run.cluster_id = resolve_cluster(run, intake, cluster)
    known = tables.read_ranges(run.store, run.cluster_id)
    if known and is_written_here(known, lambda: tables.count_written(run)):
        raise DataError(
            f"cluster {run.cluster_id!r} was written with acls add and follows nothing; give the "
            "source another --cluster"
        )
    follows = {r.fact == LISTING for r in known}
    if follows and intake.is_listing not in follows:
        now, then = ("a listing", "a log") if intake.is_listing else ("a log", "listings")
        raise DataError(
            f"cluster {run.cluster_id!r} follows {then} since its first replay, and this is {now}; "
            "give it another --cluster"
        )
    if intake.is_listing:
        with step("reading the listing"):
            rows = list(_read_listing(intake))
        at = intake.at or datetime.now(UTC)
        return replay_listing(run, rows, at, options)
    return replay_log(run, read_sources(run.store.spark, intake.items), options)


def resolve_cluster(run: Run, intake: Intake, given: str | None) -> str:
    """Say which cluster a source is about.

    ``--cluster``, else what the source itself says, else the warehouse's only cluster, else
    ``default``.

    Raises:
        DataError: the source belongs to another cluster than the one given or known.
    """
    known = tables.read_clusters(run.store)
    held = ", ".join(sorted(known))
    own = next(iter(intake.cluster_ids), None)
    if given is not None:
        if own is not None and own != given:
            raise DataError(f"--cluster says {given!r}, but the source is of cluster {own!r}")
        return parse_cluster_id(given)
    if own is None:
        if len(known) > 1:
            raise UsageError(f"the warehouse holds several clusters, name one: --cluster {held}")
        return next(iter(known), "default")
    if known and own not in known:
        raise DataError(
            f"the source is of cluster {own!r}, but the warehouse holds {held}; "
            f"to add it as one more cluster say --cluster {own}"
        )
    return parse_cluster_id(own)


def _listed() -> str:
    return ", ".join(KINDS)


def _cluster_id_of(source: Source, properties: dict[str, str], timeout: float) -> str | None:
    if source.kind == METADATA_LOG:
        return read_cluster_id(source.path)
    if source.kind == LIVE:
        return read_live_cluster_id(source.path, properties, timeout)
    require_file(source.path)
    return None


def _items(source: Source) -> Iterable[WorkItem]:
    if source.kind == METADATA_LOG:
        return metadata_log_items(source.path)
    return [WorkItem(kind=source.kind, path=source.path)] if source.kind in LOG_KINDS else []


def _read_listing(intake: Intake) -> Iterator[SourceRow]:
    source = intake.sources[0]
    if source.kind == LIVE:
        yield from read_live(source.path, intake.client_properties or {}, intake.timeout)
        return
    yield from read_listing(source.path)
