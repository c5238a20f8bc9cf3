"""A run and the controllers' log → ``acl_change_by``, and notes on what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from aclkit.model.phrases import number_of
from aclkit.questions.by_whom.match import (
    AclChange,
    ControllerLog,
    Match,
    Matcher,
    has_other_clock,
)
from aclkit.questions.by_whom.tables import KnownBy, key_of, read_all_changes, write_known
from aclkit.questions.query.lifetimes import (
    MISSING,
    NONE,
    ONE,
    SEVERAL,
    UNSURE,
    ChangedBy,
    ChangeKey,
    certainty_of,
)
from aclkit.runtime.progress import step
from aclkit.warehouse.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ByWhomOptions:
    """What a user passed.

    Attributes:
        log: what the files of the controllers tell.
        skew: by how much the controllers' clocks may differ.
        problems: why some files were not read.
    """

    log: ControllerLog
    skew: timedelta
    problems: tuple[str, ...] = ()


def find_by_whom(run: Run, options: ByWhomOptions) -> None:
    """Find who may have made each change that is not certain yet; the caller publishes.

    A log whose times do not fit the metadata log is not used at all.
    """
    run.notes += (f"--controller-log: {problem}" for problem in options.problems)
    with step("Looking for who changed ACLs"):
        found = read_all_changes(run.store, run.cluster_id)
        is_final = {key for key, each in found.known.items() if each.by.certainty in _FINAL}
        asked = [change for change in found.changes if key_of(change) not in is_final]
        skew = round(options.skew.total_seconds() * 1_000_000)
        matcher = Matcher(log=options.log, epoch_began=found.epoch_began, skew=skew)
        matches = list(matcher.match(asked))
        if has_other_clock(matches):
            run.notes.append(_misfit(matches))
            return
        known = list(merged(found.changes, found.known, matches))
        if _differs(known, found.known):
            write_known(run.store, run.cluster_id, known)
    run.notes += _notes(known, options.log)


def merged(
    changes: Iterable[AclChange], known: Mapping[ChangeKey, KnownBy], matches: Iterable[Match]
) -> Iterator[KnownBy]:
    """Yield what is known of each change after another log was read.

    Candidates of an earlier log stay, because it had lines that this one may not have. A change
    with certain candidates keeps them.
    """
    new = {key_of(match.change): match for match in matches}
    for change in changes:
        key = key_of(change)
        match, before = new.get(key), known.get(key)
        if match is None:
            if before is not None:
                yield before
            continue
        earlier = before.by.candidates if before else ()
        candidates = tuple(sorted({*earlier, *match.candidates}))
        certainty = certainty_of(candidates, is_covered=match.is_covered)
        yield KnownBy(
            change=change,
            by=ChangedBy(certainty, candidates),
            sources=tuple(sorted({*match.sources, *(before.sources if before else ())})),
        )


def _differs(known: Sequence[KnownBy], before: Mapping[ChangeKey, KnownBy]) -> bool:
    """Whether the rows are other ones than before."""
    now = {key_of(each.change): (each.by, each.sources) for each in known}
    return now != {key: (each.by, each.sources) for key, each in before.items()}


def _misfit(matches: Sequence[Match]) -> str:
    covered = sum(match.is_covered for match in matches)
    unexplained = sum(match.is_unexplained for match in matches)
    return (
        f"The controllers' log was not used: of {number_of(covered, 'change')} of ACLs that it "
        f"covers, {unexplained:,} have no request. Its times do not fit the metadata log. Check "
        "--log-timezone, and that both are of the same cluster."
    )


def _notes(known: Sequence[KnownBy], log: ControllerLog) -> Iterator[str]:
    """Yield how many changes have how sure an author."""
    if not known:
        yield "By whom ACLs changed: the metadata log has no change of an ACL with a time."
        return
    counts = Counter(each.by.certainty for each in known)
    parts = ", ".join(f"{counts[name]:,} {words}" for name, words in _COUNTED if counts[name])
    yield f"By whom ACLs changed: {number_of(len(known), 'change')}, {parts}."
    if log.files and not log.heartbeats:
        yield (
            "The controllers' log has no heartbeats of brokers, so no change is certain. Set "
            "kafka.authorizer.logger to DEBUG on all controllers."
        )


_FINAL: Final = (ONE, SEVERAL, NONE)
_COUNTED: Final = (
    (ONE, "with one candidate"),
    (SEVERAL, "with several"),
    (UNSURE, "uncertain"),
    (NONE, "without a request in the log"),
    (MISSING, "without a log of that time"),
)
