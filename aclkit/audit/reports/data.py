"""What every report of a run shows: one record, gathered once, which all renderers read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from aclkit.audit.findings.baseline import BaselineEntry, Judged
from aclkit.model.acl import Acl
from aclkit.model.findings import Finding, sort_findings

if TYPE_CHECKING:
    from aclkit.questions.query.lifetimes import ChangedBy

COMPLETE: Final = "complete"
"""The status of a run that misses nothing, as in ``job_run``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A record of the log that moved an ACL, and so an access.

    Attributes:
        offset: where the change took effect.
        at: the time of the record; None where the log does not say.
        what: ``added`` or ``removed``.
        acl: the ACL.
        by: who may have moved it; None where no log of controllers was read.
    """

    offset: int
    at: datetime | None
    what: str
    acl: Acl
    by: ChangedBy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedChange:
    """Accesses of one principal, or of a class of them, to one resource that a run changed.

    Attributes:
        who: the principal, or words for the class.
        resource: as people write it.
        gained: how many hosts × operations became ALLOWED.
        lost: how many became DENIED.
        cause: acl, settings or inventory; came or gone for a name alone, see ``ChangedNames``.
        cause_offsets: log offsets of the ACL records behind it.
        causes: these records, as far as the history still has them.
    """

    who: str
    resource: str
    gained: int
    lost: int
    cause: str
    cause_offsets: tuple[int, ...] = ()
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedNames:
    """Names that came into what is asked about, or left it: principals, hosts or resources.

    Attributes:
        is_new: whether they came.
        names: the first of them, each as a change of the cause ``came`` or ``gone`` that gives and
            takes nothing: a principal or a host in ``who``, a resource in ``resource``.
        number: how many there are in all.
    """

    is_new: bool
    names: tuple[ReportedChange, ...]
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionOutcome:
    """One policy of the team, and whether the run met it.

    Attributes:
        name: what the team calls it.
        passed: whether it holds.
        state: ``passed``, ``failed``, or ``unknown``: it was not proven for names to come.
        severity: how bad it is if it does not.
        message: one plain sentence.
        example: a concrete access that breaks it; empty where none does.
    """

    name: str
    passed: bool
    severity: str
    message: str
    example: str = ""
    state: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether nobody knows if it holds; the night fails all the same."""
        return self.state == "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlySummary:
    """What one nightly run read, decided and found.

    Attributes:
        status: ``complete`` or ``incomplete``, as in ``job_run``.
        head_offset: the state is as of this offset (exclusive).
        rows_expected: principals × hosts × operations × resources.
        rows_decided: how many of them the tables answer.
        changes: the largest access changes.
        access_changes: how many there are in all.
        names: those that the run asked about and the run before did not, or the other way round.
        findings: those in force, but those that are muted.
        exit_code: what the run ended with; None where that is not known any more.
        assertions: the team's policies; None where none were tested.
        judged: every finding with its state, muted and fixed ones too; None where there is
            neither a baseline nor a mute.
        known_before: fingerprints of the findings in force after the previous published run;
            others are new. None where there was no such run.
        exit_reason: why it ended with its exit code, in words.
    """

    cluster_id: str
    run_id: str
    started_at: datetime
    seconds: float
    status: str
    head_offset: int
    acls: int
    principals: int
    hosts: int
    resources: int
    rows_expected: int
    rows_decided: int
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    changes: tuple[ReportedChange, ...]
    access_changes: int
    exit_code: int | None
    assertions: tuple[AssertionOutcome, ...] | None = None
    judged: tuple[Judged, ...] | None = None
    names: tuple[ChangedNames, ...] = ()
    known_before: frozenset[str] | None = None
    exit_reason: str = ""

    @property
    def new_findings(self) -> tuple[Finding, ...]:
        """The findings that the previous published run did not have; all without such a run."""
        before = self.known_before or frozenset()
        return tuple(found for found in self.findings if found.fingerprint not in before)

    @property
    def missing_answers(self) -> int:
        """How many cells are expected and have no decision."""
        return self.rows_expected - self.rows_decided

    @property
    def broken_assertions(self) -> list[str]:
        """The names of the policies that do not hold."""
        tested = self.assertions or ()
        return [each.name for each in tested if not each.passed and not each.is_unknown]

    @property
    def unknown_assertions(self) -> list[str]:
        """The names of the policies of which nobody knows whether they hold."""
        return [tested.name for tested in self.assertions or () if tested.is_unknown]

    @property
    def is_in_trouble(self) -> bool:
        """Whether something else than a finding is wrong: with the run, or with a policy."""
        return bool(
            self.missing_answers
            or self.status != COMPLETE
            or (self.exit_code or 0) > 1
            or self.broken_assertions
            or self.unknown_assertions
        )

    @property
    def needs_a_person(self) -> bool:
        """Whether there is anything to do, whatever the exit code says about it."""
        return bool(self.findings) or self.is_in_trouble

    @property
    def has_news(self) -> bool:
        """Whether there is anything to do that the previous run did not report as a finding."""
        is_late = any(item.is_expired for item in self.judged or ())
        return bool(self.new_findings) or is_late or self.is_in_trouble

    def with_states(self, judged: Iterable[Judged]) -> NightlySummary:
        """Return it with the states of its findings; muted ones are no longer among these."""
        items = tuple(judged)
        asked = tuple(item.finding for item in items if item.finding and not item.is_muted)
        return replace(self, findings=asked, judged=items)

    @property
    def listed(self) -> list[tuple[Finding, Judged | None]]:
        """All findings in force, muted ones too, the worst first, each with its state."""
        if self.judged is None:
            return [(finding, None) for finding in sort_findings(self.findings)]
        return [(item.finding, item) for item in self.judged if item.finding is not None]

    @property
    def states(self) -> dict[str, Judged]:
        """The states of the findings in force, by fingerprint."""
        return {state.fingerprint: state for _, state in self.listed if state is not None}

    @property
    def muted(self) -> list[tuple[Finding, Judged]]:
        """The findings that somebody answers for, each with its state."""
        return [(found, state) for found, state in self.listed if state and state.is_muted]

    @property
    def fixed(self) -> list[BaselineEntry]:
        """What the baseline holds and the run does not."""
        gone = (item.known for item in self.judged or () if item.finding is None)
        return [known for known in gone if known is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliveAcl:
    """An ACL of the decided state, the record that added it, and who may have sent it."""

    acl: Acl
    added_offset: int
    added_at: datetime | None
    by: ChangedBy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One run of the past, in numbers.

    Attributes:
        findings: how many findings were in force, by severity.
        gained: accesses (hosts × operations) that became ALLOWED, per changed pair.
        lost: accesses that became DENIED.
    """

    run_number: int
    started_at: datetime
    seconds: float
    status: str
    acls: int
    findings: Mapping[str, int]
    gained: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """How much of each group of topics each principal may administer, write and read.

    Attributes:
        prefixes: a topic's name up to its first ``.``, ``-`` or ``_``, with the number of topics.
        principals: who, the one with the widest access first.
        allowed: per use of operations, principal and prefix: topics × operations of that use
            ALLOWED from some host.
        possible: per use and prefix: topics × operations of that use.
        more_prefixes: how many prefixes are left out.
        more_principals: how many principals are left out.
    """

    prefixes: tuple[tuple[str, int], ...]
    principals: tuple[str, ...]
    allowed: Mapping[str, tuple[tuple[int, ...], ...]]
    possible: Mapping[str, tuple[int, ...]]
    more_prefixes: int
    more_principals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedPrincipal:
    """A principal, and how much it can do on topics.

    Attributes:
        name: the principal.
        is_super: it is a super user.
        administers: topics that it can create, delete or alter, from at least one host.
        writes: topics that it can WRITE to.
        reads: topics that it can READ.
        denies: DENY ACLs that name it.
        findings: findings in force about it, or about an ACL that names it.
        changed_at: when an ACL that names it was last added or removed; None where none is known.
    """

    name: str
    is_super: bool
    administers: int
    writes: int
    reads: int
    denies: int
    findings: int
    changed_at: datetime | None


NumberedRuling = tuple[str, int, bool, int, int]
"""Operation, host (-1 is any other), is ALLOWED, rule, ACL (-1 without one)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """The whole of ``explain`` in its factored form, every name said once and then numbered.

    Attributes:
        principals: (name, class, is super user) in order of names.
        hosts: the named hosts in order; "any other" is not among them.
        resources: (type, name) in order.
        operations: the operations of each type.
        acls: the ACLs that rulesets hold.
        rulesets: per ruleset the ACLs in it, by place in ``acls``.
        rulings: per ruleset what it says of operations and hosts.
        super_ruleset: the ruleset of super users; -1 without one.
        classes: per principal class the ruleset of each resource.
        pairs: (principal, resource, ruleset) where the class does not answer.
        rules: names of the rules that rulings number.
    """

    principals: tuple[tuple[str, int, bool], ...]
    hosts: tuple[str, ...]
    resources: tuple[tuple[str, str], ...]
    operations: Mapping[str, tuple[str, ...]]
    acls: tuple[AliveAcl, ...]
    rulesets: tuple[tuple[int, ...], ...]
    rulings: tuple[tuple[NumberedRuling, ...], ...]
    super_ruleset: int
    classes: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[int, int, int], ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One published run, ready to be shown.

    Attributes:
        summary: the run itself; what the Markdown page shows.
        version: of aclkit.
        made_at: when the report was made.
        finished_at: when the run that decided ended.
        log_head: the log has been read up to this offset (exclusive); past ``head_offset`` where
            a later run replayed and did not decide.
        is_read_again: such a run changed what is known before ``head_offset``.
        kinds: every kind of finding that the run looked for.
        acls: the ACLs behind the findings, by id.
        since: since when each finding is true, by fingerprint.
        trend: the latest runs that decided, the oldest first.
        principals: all principals, those that administer most topics first.
        heat: principals × topic prefixes.
        explorer: all decisions, or None.
        explorer_note: why there is no explorer; empty where there is one.
    """

    summary: NightlySummary
    version: str
    made_at: datetime
    finished_at: datetime
    log_head: int
    is_read_again: bool = False
    kinds: tuple[str, ...] = ()
    acls: Mapping[str, AliveAcl] = field(default_factory=dict)
    since: Mapping[str, datetime | None] = field(default_factory=dict)
    trend: tuple[TrendPoint, ...] = ()
    principals: tuple[ReportedPrincipal, ...] = ()
    heat: HeatMap | None = None
    explorer: Explorer | None = None
    explorer_note: str = ""

    def acls_of(self, finding: Finding) -> list[AliveAcl]:
        """Return those of the ACLs that are behind a finding."""
        return [self.acls[acl_id] for acl_id in finding.acl_ids if acl_id in self.acls]
