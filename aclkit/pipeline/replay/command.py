"""What a user wants replayed → one replay of one cluster, whatever the kind of its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from aclkit.errors import DataError, UsageError
from aclkit.kafka.client.config import ClientConfig, client_config
from aclkit.kafka.client.connection import require_addresses
from aclkit.kafka.client.properties import read_properties
from aclkit.model.broker_settings import require_known_authorizer
from aclkit.model.facts import ADD_ACL, LISTING, REJECT
from aclkit.pipeline.replay import tables
from aclkit.pipeline.replay.forget import Offsets, Origin, forget
from aclkit.pipeline.replay.listing import replay_listing
from aclkit.pipeline.replay.ranges import is_written_here
from aclkit.pipeline.replay.reading import source_rows
from aclkit.pipeline.replay.replay import ReplayOptions, ReplayResult, replay_log
from aclkit.pipeline.sources.files import require_file
from aclkit.pipeline.sources.listing import Listing
from aclkit.pipeline.sources.live import read_live
from aclkit.pipeline.sources.metadata_log import read_cluster_id
from aclkit.pipeline.sources.readers import WorkItem, metadata_log_items, read_listing
from aclkit.runtime.progress import step
from aclkit.warehouse.job_run import RunSettings, Told
from aclkit.warehouse.run import Run, parse_cluster_id

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
        listing: what a listing holds; None where a live source has not been asked yet.
        ask: asks a live source.
        not_honoured: keys of the client's configuration that are passed over.
        allow_empty: a listing may have no ACLs, whatever was known before.
    """

    sources: tuple[Source, ...]
    items: tuple[WorkItem, ...]
    cluster_ids: frozenset[str]
    at: datetime | None = None
    listing: Listing | None = None
    ask: Callable[[], Listing] | None = None
    not_honoured: tuple[str, ...] = ()
    allow_empty: bool = False

    @property
    def is_listing(self) -> bool:
        """Whether the sources are whole lists of ACLs and not a log."""
        return any(source.kind not in LOG_KINDS for source in self.sources)

    def list_again(self) -> list[WorkItem]:
        """List the files of the sources as they are now."""
        return [item for source in self.sources for item in _items(source)]


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
    allow_empty: bool = False,
    may_be_none: bool = False,
) -> Intake:
    """Check that sources exist and fit together; a text of a listing is read, no broker asked.

    Args:
        sources: what the user names.
        at: time of a listing; None is now.
        command_config: .properties file of a Kafka client, for a live source.
        timeout: seconds that a live source may take.
        allow_empty: a listing may have no ACLs.
        may_be_none: there may be no source at all, where something is forgotten.

    Raises:
        UsageError: no source, a missing file, or kinds that do not mix.
        DataError: a file of the wrong kind, a listing without ACLs, or sources of different
            clusters.
    """
    if not sources and not may_be_none:
        raise UsageError(f"expected at least one --source KIND:PATH; kinds are {_listed()}")
    listings = [source for source in sources if source.kind not in LOG_KINDS]
    if listings and len(sources) > 1:
        raise UsageError("a listing is a whole state: give it alone, without other sources")
    if listings and listings[0].kind == LIVE:
        config = client_config(read_properties(command_config) if command_config else {})
        return _look_at_live(listings[0], at, config, timeout, allow_empty=allow_empty)
    if listings:
        return _look_at_text(listings[0], at, allow_empty=allow_empty)
    found = {_cluster_id_of(source) for source in sources} - {None}
    if len(found) > 1:
        names = ", ".join(sorted(map(str, found)))
        raise DataError(f"expected sources of one cluster, found {names}")
    return Intake(
        sources=tuple(sources),
        items=tuple(item for source in sources for item in _items(source)),
        cluster_ids=frozenset(str(cluster) for cluster in found),
        at=at,
    )


def ask_live(intake: Intake) -> Intake:
    """Ask the live source of an intake, if it is one; the lock is best held before.

    Raises:
        SurroundingsError: the cluster cannot be asked, or refuses.
        DataError: its brokers are not of one cluster, or decide by a rule that is not known here.
    """
    if intake.ask is None:
        return intake
    with step("asking the cluster"):
        listing = intake.ask()
    return replace(
        intake,
        listing=listing,
        at=intake.at or datetime.now(UTC),
        cluster_ids=frozenset([listing.cluster_id] if listing.cluster_id else []),
    )


def _look_at_live(
    source: Source, at: datetime | None, config: ClientConfig, timeout: float, *, allow_empty: bool
) -> Intake:
    require_addresses(source.path)
    return Intake(
        sources=(source,),
        items=(),
        cluster_ids=frozenset(),
        at=at,
        ask=partial(_ask, source.path, config, timeout),
        not_honoured=config.not_honoured,
        allow_empty=allow_empty,
    )


def _look_at_text(source: Source, at: datetime | None, *, allow_empty: bool) -> Intake:
    require_file(source.path)
    listing = Listing(rows=tuple(read_listing(source.path)))
    if not allow_empty:
        _refuse_empty(source.path, listing)
    return Intake(
        sources=(source,),
        items=(),
        cluster_ids=frozenset(),
        at=at or datetime.now(UTC),
        listing=listing,
        allow_empty=allow_empty,
    )


def _refuse_empty(path: str, listing: Listing) -> None:
    """Refuse a text without ACLs: most texts without them are of a tool that failed."""
    if _has_acl(listing):
        return
    refused = sum(row.kind == REJECT for row in listing.rows)
    lines = f", and {refused:,} lines that cannot be used" if refused else ""
    raise DataError(
        f"{path}: expected the ACLs of kafka-acls --list, found none{lines}. It would take every "
        "ACL away: say --allow-empty where the cluster really has none"
    )


def _has_acl(listing: Listing) -> bool:
    return any(row.record_type == ADD_ACL for row in listing.rows)


def replay(
    run: Run,
    intake: Intake,
    cluster: str | None,
    options: ReplayOptions,
    wrong: Sequence[Offsets | Origin] = (),
) -> ReplayResult:
    """Take back what was read wrongly, and replay sources into the run's tables.

    Raises:
        UsageError: there is nothing of the kind to take back.
        DataError: another cluster's source, a log for a cluster that follows listings or the
            other way round, or content that contradicts what was read before.
    """
    intake = _listing_now(run, intake)
    run.cluster_id = resolve_cluster(run, intake, cluster)
    known = tables.read_ranges(run.store, run.cluster_id)
    if known and is_written_here(known, lambda: tables.count_written(run)):
        raise DataError(
            f"cluster {run.cluster_id!r} was written with acls add and follows nothing; give the "
            "source another --cluster"
        )
    follows = {r.fact == LISTING for r in known}
    if follows and intake.sources and intake.is_listing not in follows:
        now, then = ("a listing", "a log") if intake.is_listing else ("a log", "listings")
        raise DataError(
            f"cluster {run.cluster_id!r} follows {then} since its first replay, and this is {now}; "
            "give it another --cluster"
        )
    if wrong and intake.is_listing:
        raise UsageError("a listing is compared with the state before it: say --forget alone first")
    if wrong:
        with step("forgetting"):
            forget(run, wrong)
    if intake.listing is not None:
        return _replay_listing(run, intake.listing, intake, options)
    with source_rows(run, intake.items, intake.list_again) as (read, sources):
        return replay_log(run, read, options, reread=sources, has_forgotten=bool(wrong))


def _replay_listing(
    run: Run, listing: Listing, intake: Intake, options: ReplayOptions
) -> ReplayResult:
    if not intake.allow_empty and not _has_acl(listing) and tables.read_alive(run)[0]:
        raise DataError(
            f"{intake.sources[0].path} lists no ACL, and cluster {run.cluster_id!r} had some "
            "before: say --allow-empty where they are really gone"
        )
    if listing.brokers or listing.metadata_version is not None:
        told = Told(brokers=listing.brokers, metadata_version=listing.metadata_version)
        run.settings = RunSettings(told=told)
    return replay_listing(run, listing, intake.at or datetime.now(UTC), options)


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


def _cluster_id_of(source: Source) -> str | None:
    if source.kind == METADATA_LOG:
        return read_cluster_id(source.path)
    require_file(source.path)
    return None


def _items(source: Source) -> Iterable[WorkItem]:
    if source.kind == METADATA_LOG:
        return metadata_log_items(source.path)
    return [WorkItem(kind=source.kind, path=source.path)]


def _ask(bootstrap: str, config: ClientConfig, timeout: float) -> Listing:
    listing = read_live(bootstrap, config, timeout)
    require_known_authorizer(listing.brokers)
    return listing


def _listing_now(run: Run, intake: Intake) -> Intake:
    """Return the intake, asked again where another run may have entered a newer listing since.

    The lock of a local warehouse is held before the cluster is asked, a lease only behind it.

    Raises:
        DataError: the cluster that answers now is another one.
    """
    if intake.ask is None or (intake.listing and "://" not in run.store.warehouse):
        return intake
    again = ask_live(intake)
    if intake.listing and again.cluster_ids != intake.cluster_ids:
        before, after = (", ".join(i.cluster_ids) or "none" for i in (intake, again))
        raise DataError(
            f"{intake.sources[0].path} answered for cluster {before}, and then for {after}"
        )
    return again
