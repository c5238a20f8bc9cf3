"""The request of a materialize × the previous run → its scope, and whether it is already decided.

It needs no Spark: most nightly runs have nothing to decide. A run keeps the digest of what decides,
finds and writes among its settings. Where it is another one, an aclkit of another source decided:
everything is decided again, and audited again, however little else changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from aclkit.model.brokers import (
    RangesByBroker,
    note_on_ranges,
    ranges_by_broker,
    require_known_reading,
)
from aclkit.model.redpanda import authorizer_of
from aclkit.model.semantics import (
    AUTO,
    AskedReading,
    BrokerSettings,
    Semantics,
    auto_preset,
    semantics_words,
)
from aclkit.model.unread import TOPICS
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.survey import Given, log_entries, read_texts, survey
from aclkit.pipeline.plan import DecideWith
from aclkit.runtime.progress import step
from aclkit.runtime.source_digest import source_digest
from aclkit.warehouse.codecs import BROKERS_SQL, brokers_of
from aclkit.warehouse.formats import FORMAT
from aclkit.warehouse.job_run import MATERIALIZING, REPLAYING, RunSettings
from aclkit.warehouse.reader import read_written
from aclkit.warehouse.run import Run
from aclkit.warehouse.views import EXPLAIN_TABLES

DECIDING: Final = (
    "model", "rules", "pipeline/inventory", "pipeline/explain", "audit/findings",
)  # fmt: skip
"""The packages of the rule, of its Spark form, of what is asked about, and of the findings."""


SAME: Final = frozenset({"43568882b418f776", "72b1252f5f93045f", "85c83b9d8784322c"})
"""Digests of sources before this one that wrote the same tables and findings, row by row: what a
run under one of them decided still holds. A change of a rule or of a finding empties it."""


def digest_after(before: str | None) -> str:
    """Return the digest of a run after another one: that one's, where nothing would differ."""
    return before if before is not None and before in SAME else rules_digest()


@cache
def rules_digest() -> str:
    """Return the digest of this aclkit."""
    return digest_of(files("aclkit"))


def digest_of(root: Traversable) -> str:
    """Return the digest of an aclkit whose source lies in a folder, or in a zip."""
    return source_digest(root, DECIDING, f"format {FORMAT}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeOptions:
    """The options of a materialize.

    Attributes:
        settings: super users and allow.everyone.
        reading: how ACLs are to be read; see ``auto_ranges``. The reading that a run actually uses
            is in its scope.
        given: files that name what to ask about.
        dense: always, never or auto.
        full: decide everything anew, even where deciding the changes is enough.
        auto_ranges: the known brokers, not ``reading``, set whether ranges (CIDR) decide.
        decide_with: what decides; see ``plan.plan_deciding``.
    """

    settings: BrokerSettings
    reading: AskedReading
    given: Given
    dense: str = "auto"
    full: bool = False
    auto_ranges: bool = False
    decide_with: DecideWith = "auto"


def take_inventory(run: Run, options: MaterializeOptions) -> Scope:
    """Collect the texts of the ACLs in force and the names to decide; note how ACLs are read.

    Raises:
        UsageError: the cluster has never been replayed.
        DataError: an ACL's host is a range, and it is unknown how the brokers read it.
    """
    with step("Listing the known names"):
        with read_written(run.store, run.cluster_id, *_INPUTS) as read:
            texts, log = read_texts(read), log_entries(read)
            known = ranges_by_broker(brokers_of(read.rows(BROKERS_SQL)).brokers)
            has_glob = bool(read.rows(_A_GLOB)) or _was_glob_taken(run)
        semantics = options.reading.taken(has_glob=has_glob)
        if "authorizer" not in options.reading.own:
            whose = authorizer_of(texts.principals, _replayed(run).authorizer)
            semantics = replace(semantics, authorizer=whose)
        if options.auto_ranges:
            require_known_reading(known, texts.hosts)
            semantics = replace(semantics, cidr_hosts=known.newest_decides)
        inventory = survey(
            texts,
            log,
            options.given,
            options.settings,
            semantics,
            has_all_topics=TOPICS not in unread_by(run),
        )
    notes = notes_on_reading(texts.hosts, known, semantics, is_auto=options.auto_ranges)
    # The replay of the same run may have noted it already.
    fresh = [one for one in notes if not any(note.startswith(one) for note in run.notes)]
    inventory = replace(inventory, notes=(*fresh, *inventory.notes))
    return Scope(
        cluster_id=run.cluster_id,
        texts=texts,
        inventory=inventory,
        semantics=semantics,
        preset=options.reading.preset_taken(has_glob=has_glob),
        super_users=frozenset(filter(options.settings.makes_super, options.settings.super_users)),
    )


def unread_by(run: Run) -> Mapping[str, str]:
    """Return the parts of a live cluster that were not read whole, and why each was not."""
    told = _replayed(run).told
    return {} if told is None else told.unread


def _replayed(run: Run) -> RunSettings:
    """Return the settings of the run that read the sources."""
    if run.job in REPLAYING:
        return run.settings
    before = run.previous(REPLAYING)
    return RunSettings() if before is None else before.settings


def _was_glob_taken(run: Run) -> bool:
    """Whether the decisions before took KIP-1042 by itself: it never goes back by itself.

    A GLOB may leave the history, as where its record is forgotten. Who asks for a preset ends it.
    """
    before = run.previous(MATERIALIZING)
    if before is None:
        return False
    then = before.settings
    taken = (then.semantics_asked, then.semantics_preset)
    return taken == (AUTO, auto_preset(has_glob=True))


def notes_on_reading(
    acl_hosts: Iterable[str], known: RangesByBroker, semantics: Semantics, *, is_auto: bool
) -> Iterator[str]:
    """Yield how ACLs are read, and what sets whether ranges decide where a host may be one."""
    yield f"{semantics_words(semantics)}."
    if any("/" in host for host in acl_hosts):
        yield note_on_ranges(known, decide=semantics.cidr_hosts, is_auto=is_auto)


def is_decided(run: Run, scope: Scope, options: MaterializeOptions) -> bool:
    """Whether the published decisions are those that ``materialize`` would write."""
    before = run.goes_on_from()
    if before is None:
        return False
    then = before.settings
    if then.updated(deciding_settings(options, scope, then)) != then:
        return False
    versions, tables = before.table_versions, (*_INPUTS, *EXPLAIN_TABLES)
    return all(run.store.holds(table, versions.get(table)) for table in tables)


def deciding_settings(
    options: MaterializeOptions, scope: Scope, before: RunSettings | None
) -> RunSettings:
    """Return the settings under which the decisions hold, for ``job_run``.

    ``before`` are those of the run that this one goes on from.
    """
    return RunSettings(
        semantics=scope.semantics,
        semantics_asked=options.reading.preset,
        semantics_preset=scope.preset,
        super_users=options.settings.super_users,
        allow_everyone=options.settings.allow_everyone,
        unknown=tuple(sorted(options.settings.unknown)),
        dense=options.dense,
        inventory_digest=scope.inventory.digest(),
        rules_digest=digest_after(None if before is None else before.rules_digest),
    )


_A_GLOB: Final = "SELECT acl_id FROM acl_history WHERE pattern_type = 'GLOB' LIMIT 1"
_INPUTS: Final = ("acl_history", "resource_lifetime", "principal_lifetime", "broker")
