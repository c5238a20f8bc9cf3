"""What a user names as sources → an intake: sources that were looked at, and their imprint.

An *imprint* is one digest of all that a replay reads from sources, and how it reads it.

A replay of the same bytes in the same way, of a cluster whose tables are unchanged since the
previous replay, changes nothing: it reads the same offsets again, and each fact is known. So a run
keeps the imprint of its sources among its settings, and the next run compares it with its own.
Any other imprint is news, and Spark finds out which:

- **A metadata log, a checkpoint, a dump, records, packed or not**: each file that would be read, in
  their order, by its path as given, its kind, the next segment, its size and a BLAKE2 digest of
  **every byte**. No time and no size is trusted: a file that came, went, shrank, grew (a half
  batch at its end too) or has other bytes of the same size gives another imprint. So do segments
  that a broker deletes: a log that begins later is read anew, and what is known of it stays known.
- **A listing** (``kafka-acls --list``, a live cluster): its content row by row, including rejects,
  whatever their order.
- **The way of reading**: high watermark, accepted holes, ``--strict``; the source of the packages
  that read and replay, and the format of the tables.

Every byte is hashed once a run, before Spark starts (0.9 s for a gigabyte on a disk; objects in a
bucket are read from there for it), and not when the log is read. So a file's identity, size,
modification time and change time are compared before hashing and after all reading. If the file
was written meanwhile, no imprint is kept, and the next run reads everything. An object has only its
size and modification time, in S3 to the second.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from aclkit.errors import AclkitError, DataError, UsageError
from aclkit.model.broker_settings import require_known_authorizer
from aclkit.model.facts import ADD_ACL, REJECT, SourceRow
from aclkit.model.phrases import number_of
from aclkit.pipeline.replay.known import ReplayOptions
from aclkit.pipeline.sources.files import open_stream, require_file, size_and_time
from aclkit.pipeline.sources.items import WorkItem, items_of
from aclkit.pipeline.sources.listing import Listing
from aclkit.pipeline.sources.metadata_log import read_cluster_id
from aclkit.pipeline.sources.source_kinds import LIVE, METADATA_LOG, SOURCE_KINDS
from aclkit.runtime.progress import step
from aclkit.runtime.read_progress import ReadProgress, followed, size_of
from aclkit.runtime.source_digest import source_digest
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.job_run import RunSettings, Told

if TYPE_CHECKING:
    from aclkit.kafka.client.config import ClientConfig
    from aclkit.kafka.client.connection import KeptConnection


READING: Final = ("model", "pipeline/sources", "pipeline/replay")
"""The packages whose code makes tables of bytes."""


@dataclass(frozen=True, slots=True)
class Imprint:
    """What sources hold.

    Attributes:
        digest: of all of it.
        looks: file → how it looked before it was hashed.
    """

    digest: str
    looks: Mapping[str, tuple[int, ...]]

    def holds(self) -> bool:
        """Whether no file has been written since."""
        try:
            return all(_look(path) == look for path, look in self.looks.items())
        except (OSError, AclkitError):
            return False


def imprint_of(intake: Intake, options: ReplayOptions) -> Imprint | None:
    """Return the imprint of sources; None where there is none, or a file cannot be read.

    The reader reports what is wrong with a file. The end of a log has no imprint: it is news.
    """
    if not intake.sources or intake.tail is not None:
        return None
    looks: dict[str, tuple[int, ...]] = {}
    try:
        looks.update((item.path, _look(item.path)) for item in intake.items)
        told = [repr(options), _reading(), *map(repr, intake.sources), *_content(intake)]
    except (OSError, AclkitError):
        return None
    return Imprint(hashlib.blake2b("\n".join(told).encode(*_ANY_TEXT)).hexdigest()[:32], looks)


def _content(intake: Intake) -> Iterator[str]:
    if (listing := intake.listing) is not None:
        yield repr((sorted(listing.told), listing.cluster_id, listing.notes))
        yield from sorted(map(repr, listing.rows))
    sizes = [size_of(item.path) for item in intake.items]
    with followed(sizes, "Checking whether the source has anything new") as board:
        for number, item in enumerate(intake.items):
            with _opened(item.path) as file, closing(ReadProgress(board, number)) as told:
                digest, size = hashlib.blake2b(), 0
                while part := file.read(_PART):
                    digest.update(part)
                    size += len(part)
                    told.add(len(part))
                yield repr((*astuple(item), size, digest.hexdigest()))


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    return open_stream(path) if is_uri(path) else Path(path).open("rb")


@cache
def _reading() -> str:
    return source_digest(files("aclkit"), READING, f"format {FORMAT}")


def _look(path: str) -> tuple[int, ...]:
    if is_uri(path):
        return size_and_time(path)
    found = Path(path).stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path}: not a plain file, so it may have no end")
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


_PART: Final = 1 << 20
_ANY_TEXT: Final = ("utf-8", "surrogatepass")


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
        listings: of each source that is a log its files, as one listing of it found them.
        cluster_ids: ids that the sources themselves name.
        at: time of a listing.
        listing: what a listing holds; None where a live source has not been asked yet.
        ask: asks a live source.
        ask_again: asks it over connections that stay open for the next time.
        let_go: closes these connections.
        not_honoured: keys of the client's configuration that are passed over.
        allow_empty: a listing may have no ACLs, whatever was known before.
        imprint: of what they hold in these listings, where it was taken.
        tail: rows of a log that were read already, and follow all that the cluster's tables hold;
            None where the items are to be read.
    """

    sources: tuple[Source, ...]
    listings: tuple[tuple[WorkItem, ...], ...] = ()
    cluster_ids: frozenset[str] = frozenset()
    at: datetime | None = None
    listing: Listing | None = None
    ask: Callable[[], Listing] | None = None
    ask_again: Callable[[], Listing] | None = None
    let_go: Callable[[], None] | None = None
    not_honoured: tuple[str, ...] = ()
    allow_empty: bool = False
    imprint: Imprint | None = None
    tail: Sequence[SourceRow] | None = None

    @property
    def items(self) -> tuple[WorkItem, ...]:
        """The files to read, of logs."""
        return tuple(item for listing in self.listings for item in listing)

    @property
    def is_listing(self) -> bool:
        """Whether the sources are whole lists of ACLs and not a log."""
        return any(not SOURCE_KINDS[source.kind].is_log for source in self.sources)

    @property
    def settings(self) -> RunSettings | None:
        """The settings that its brokers reported; None where none did."""
        listing = self.listing
        if listing is None:
            return None
        unread = {each.part: each.cause for each in listing.unread}
        level = listing.metadata_version
        if listing.authorizer is not None:
            return RunSettings(authorizer=listing.authorizer)
        if not (listing.brokers or unread or level is not None):
            return None
        told = Told(brokers=listing.brokers, metadata_version=level, unread=unread)
        return RunSettings(told=told)

    def listed_again(self) -> Intake:
        """Return it with the files of its logs as they are now; no imprint was taken of them."""
        return replace(self, listings=_list(self.sources), imprint=None)


def parse_source(text: str) -> Source:
    """Read ``KIND:PATH``.

    Raises:
        UsageError: the kind is unknown or there is no path.

    >>> parse_source("dump-log:dump.txt")
    Source(kind='dump-log', path='dump.txt')
    """
    kind, _, path = text.partition(":")
    if kind not in SOURCE_KINDS or not path:
        raise UsageError(f"Invalid source {text!r}: expected KIND:PATH. Kinds are {_KINDS}.")
    return Source(kind, path)


def look_at(
    sources: Sequence[Source],
    *,
    at: datetime | None = None,
    command_config: str | None = None,
    timeout: float = 30.0,
    allow_empty: bool = False,
    accept_holes: bool = False,
    may_be_none: bool = False,
) -> Intake:
    """Check that sources exist and fit together; a text of a listing is read, no broker asked.

    Args:
        sources: what the user names.
        at: time of a listing; None is now.
        command_config: .properties file of a Kafka client, for a live source.
        timeout: seconds that a live source may take.
        allow_empty: a listing may have no ACLs.
        accept_holes: lines of a listing that cannot be used may be left out.
        may_be_none: there may be no source at all, where something is forgotten.

    Raises:
        UsageError: no source, a missing file, or kinds that do not mix.
        DataError: a file of the wrong kind, a listing without ACLs or with lines that cannot be
            used, or sources of different clusters.
    """
    if not sources and not may_be_none:
        raise UsageError(f"Pass at least one --source KIND:PATH. Kinds are {_KINDS}.")
    listings = [source for source in sources if not SOURCE_KINDS[source.kind].is_log]
    if listings and len(sources) > 1:
        raise UsageError("A listing is a complete state. Pass it alone, without other sources.")
    if listings and listings[0].kind == LIVE:
        return _look_at_live(listings[0], at, command_config, timeout, allow_empty=allow_empty)
    if listings:
        may = {"allow_empty": allow_empty, "accept_holes": accept_holes}
        return _look_at_text(listings[0], at, **may)
    found = {_cluster_id_of(source) for source in sources} - {None}
    if len(found) > 1:
        names = ", ".join(sorted(map(str, found)))
        raise DataError(f"Expected sources of one cluster, found {names}")
    return Intake(
        sources=tuple(sources),
        listings=_list(sources),
        cluster_ids=frozenset(str(cluster) for cluster in found),
        at=at,
    )


def _list(sources: Iterable[Source]) -> tuple[tuple[WorkItem, ...], ...]:
    return tuple(tuple(items_of(source.kind, source.path)) for source in sources)


def ask_live(intake: Intake) -> Intake:
    """Ask the live source of an intake, if it is one; the caller should hold the lock.

    An imprint taken earlier does not cover the new answer.

    Raises:
        SurroundingsError: the cluster cannot be asked, or refuses.
        DataError: its brokers belong to several clusters, or decide by a rule unknown to aclkit.
    """
    if intake.ask is None:
        return intake
    with step("Asking the cluster"):
        listing = intake.ask()
    return replace(
        intake,
        listing=listing,
        at=intake.at or datetime.now(UTC),
        cluster_ids=frozenset([listing.cluster_id] if listing.cluster_id else []),
        imprint=None,
    )


def listing_now(intake: Intake) -> Intake:
    """Return the intake with its listing, asked for now if it was not before.

    The warehouse was held before the cluster was asked: no other run can have entered a newer one.
    """
    return intake if intake.ask is None or intake.listing else ask_live(intake)


def _look_at_live(
    source: Source,
    at: datetime | None,
    command_config: str | None,
    timeout: float,
    *,
    allow_empty: bool,
) -> Intake:
    from aclkit.kafka.client.config import client_config
    from aclkit.kafka.client.connection import KeptConnection, require_addresses
    from aclkit.kafka.client.properties import read_properties

    config = client_config(read_properties(command_config) if command_config else {})
    require_addresses(source.path)
    kept = KeptConnection()
    return Intake(
        sources=(source,),
        at=at,
        ask=partial(_ask, source.path, config, timeout),
        ask_again=partial(_ask, source.path, config, timeout, kept),
        let_go=kept.close,
        not_honoured=config.not_honoured,
        allow_empty=allow_empty,
    )


def _look_at_text(
    source: Source, at: datetime | None, *, allow_empty: bool, accept_holes: bool
) -> Intake:
    from aclkit.pipeline.sources.readers import read_listing

    require_file(source.path)
    listing = Listing(rows=tuple(read_listing(source.path)))
    if not accept_holes:
        _refuse_half(source.path, listing)
    if not allow_empty or refused_lines(listing):
        _refuse_empty(source.path, listing)
    return Intake(
        sources=(source,),
        at=at or datetime.now(UTC),
        listing=listing,
        allow_empty=allow_empty,
    )


def _refuse_empty(path: str, listing: Listing) -> None:
    """Refuse a text without ACLs: most texts without them are of a tool that failed."""
    if has_acl(listing):
        return
    refused = len(refused_lines(listing))
    if refused:
        raise DataError(
            f"{path}: expected the ACLs of kafka-acls --list, found none that can be used. "
            f"{number_of(refused, 'line')} cannot be used: {_first(listing)}"
        )
    raise DataError(
        f"{path}: expected the ACLs of kafka-acls --list, found none. This would remove every "
        "ACL. If the cluster really has none, pass --allow-empty."
    )


def _refuse_half(path: str, listing: Listing) -> None:
    """Refuse a text of which not every line can be used: an ACL there would count as removed."""
    refused = len(refused_lines(listing))
    if not refused or not has_acl(listing):
        return
    raise DataError(
        f"{path}: {number_of(refused, 'line')} of the listing cannot be used, so some of its ACLs "
        f"are unknown: {_first(listing)}. Correct the file, or pass --accept-holes. Then ACLs that "
        "only these lines contain count as removed."
    )


def _first(listing: Listing) -> str:
    """Return where the first line stands that cannot be used, and why."""
    row = refused_lines(listing)[0]
    return f"line {row.position}: {row.reason}"


def refused_lines(listing: Listing) -> list[SourceRow]:
    """Return the lines of a listing that cannot be used."""
    return [row for row in listing.rows if row.kind == REJECT]


def has_acl(listing: Listing) -> bool:
    """Whether a listing has an ACL."""
    return any(row.record_type == ADD_ACL for row in listing.rows)


_KINDS: Final = ", ".join(SOURCE_KINDS)


def _cluster_id_of(source: Source) -> str | None:
    if source.kind == METADATA_LOG:
        return read_cluster_id(source.path)
    require_file(source.path)
    return None


def _ask(
    bootstrap: str, config: ClientConfig, timeout: float, kept: KeptConnection | None = None
) -> Listing:
    from aclkit.pipeline.sources.live import read_live

    listing = read_live(bootstrap, config, timeout, kept)
    require_known_authorizer(listing.brokers)
    return listing
