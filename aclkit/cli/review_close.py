"""The ends of a review: a review → evidence and a script; evidence → whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from aclkit.answer.document import Answer, Facts, Sentence
from aclkit.audit.review.answers import OPEN, state_of, torn_notes
from aclkit.audit.review.beside import Checked, check_beside, finish
from aclkit.audit.review.choosing import sound_text, wanted_of
from aclkit.audit.review.closing import (
    closed_answer,
    make_evidence,
    obstacles,
    removed_items,
)
from aclkit.audit.review.decisions import AT_CLOSE, CHOICES, KEEP, BrokenChainError
from aclkit.audit.review.evidence import EVIDENCE_PAGE, SCRIPT, Evidence, check_evidence
from aclkit.audit.review.folder import (
    EVIDENCE,
    Stored,
    append,
    changing,
    load,
    load_one,
    now,
    write_closed,
)
from aclkit.audit.review.read import Reproduced, reproduce
from aclkit.audit.review.removal import plan_removal
from aclkit.audit.review.templates import PCI_DSS, gaps
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command
from aclkit.cli.options import flag
from aclkit.cli.output import tell, tell_all
from aclkit.cli.review_options import by_option, review_option, reviews_folder, reviews_option
from aclkit.errors import UsageError
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.state import State
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import LARGEST_DATA, read_file

_REFUSED: Final = 1
_NOT_DECIDED: Final = "Not decided when the review was closed."


@command("close")
@by_option
@click.option("--acknowledged-by", metavar="NAME", help="Who acknowledges for the management.")
@click.option(
    "--open-as", type=click.Choice(CHOICES), help="Decide open items so, marked as not decided."
)
@review_option
@reviews_option
@format_option
@click.pass_obj
def close_review(
    context: Context,
    by: str,
    acknowledged_by: str | None,
    open_as: str | None,
    review: str | None,
    reviews: str | None,
) -> None:
    """Close a review: evidence, and a removal script.

    \b
    Example:
      aclkit review close --by ana
      aclkit review close --by ana --acknowledged-by "Carla Chief"
      aclkit review close --by ana --open-as remove

    close refuses a review with open items (exit code 1). With --open-as, they are decided in your
    name, with a reason that shows it. It writes evidence.json, evidence.html and removals.sh, a
    kafka-acls script, and shows who loses what. A closed review cannot be changed.
    """
    root = reviews_folder(context, reviews)
    name = load_one(root, review).review.name
    closer = sound_text(by, "a name")
    base = read_state(Warehouse(context.asked_warehouse(), context.cluster))
    with changing(root, name) as stored:
        _check(stored, base, acknowledged_by or "", open_as)
        if open_as is not None:
            left = [i for i in stored.review.items if _is_open(stored, i.item_id)]
            wanted = wanted_of(left, open_as, _NOT_DECIDED, closer, {}, replaces=False)
            append(stored, wanted, AT_CLOSE)
            stored = load(root, name)
        evidence = _close(stored, base, closer, (acknowledged_by or "").strip())
    context.stand_on_states(base)
    tell_all(base.notes)
    paths = [str(stored.place / each) for each in (EVIDENCE, EVIDENCE_PAGE, SCRIPT)]
    context.write(closed_answer(evidence, paths))


def _is_open(stored: Stored, item_id: str) -> bool:
    item = stored.review.by_id[item_id]
    return state_of(stored.review, stored.in_force, item) == OPEN


def _check(stored: Stored, base: State, acknowledged_by: str, open_as: str | None) -> None:
    """End where a review cannot be closed.

    Raises:
        UsageError: it is of another cluster, or its template forbids ``open_as``.
    """
    tell_all(torn_notes(stored))
    review = stored.review
    if base.cluster_id != review.pins.cluster_id:
        raise UsageError(
            f"The review {review.name} is about cluster {review.pins.cluster_id}, this warehouse "
            f"has {base.cluster_id}. Pass its --warehouse and --cluster."
        )
    if open_as == KEEP and review.template == PCI_DSS:
        raise UsageError("With the template pci-dss, open items cannot be kept. Decide them first.")
    found = (
        obstacles(stored, acknowledged_by)
        if open_as is None
        else gaps(review, acknowledged_by, is_closing=True)
    )
    if reasons := list(found):
        tell(f"The review {review.name} cannot be closed yet:")
        tell_all(reasons)
        click.get_current_context().exit(_REFUSED)


def _close(stored: Stored, base: State, by: str, acknowledged_by: str) -> Evidence:
    decisions = stored.in_force
    removed = removed_items(stored.review, decisions)
    removal = plan_removal(stored.review, decisions, removed, base)
    offset = stored.review.pins.log_offset if base.offset is None else base.offset
    evidence, page = finish(make_evidence(stored, removal, now(), by, acknowledged_by, offset))
    write_closed(stored, evidence, page)
    return evidence


@command("verify")
@click.argument("evidence", metavar="EVIDENCE.json")
@click.option("--expect", metavar="HASH", help="The hash that close printed.")
@flag("--offline", "Check the file alone, without a warehouse.")
@format_option
@click.pass_obj
def verify_evidence(context: Context, evidence: str, expect: str | None, *, offline: bool) -> None:
    """Check the evidence of a review.

    \b
    Example:
      aclkit review verify warehouse.reviews/2026-11-27/evidence.json
      aclkit review verify evidence.json --expect 3b0c…
      aclkit review verify evidence.json --offline

    verify checks every byte of the file, the chain of decisions and the digest, and whether
    removals.sh and evidence.html next to it are still as close wrote them. It then derives the
    items again from acl_history, as of the log offset of the review. Exit code 1: something was
    changed, or the past differs; the answer shows where. Exit code 3: the warehouse does not know
    that offset.
    """
    warehouse = None if offline else context.asked_warehouse()
    data = read_file(evidence, LARGEST_DATA)
    try:
        found = check_evidence(data)
    except BrokenChainError as error:
        _refuse(context, evidence, [f"{error}."])
        return
    if expect is not None and found.hash != expect.strip().lower():
        _refuse(context, evidence, [f"Its hash is {found.hash}, not the expected one."])
        return
    beside = check_beside(found, evidence)
    if beside.differences:
        _refuse(context, evidence, beside.differences)
        return
    if warehouse is None:
        again = Reproduced((), ("No warehouse was asked: --offline.",))
    else:
        again = reproduce(warehouse, found.review, Budget())
    if again.differences:
        _refuse(context, evidence, again.differences)
        return
    context.write(_sound_answer(found, again, beside, is_reproduced=not offline))


_VERIFIED: Final = (
    "is_sound", "is_reproduced", "reasons", "review", "cluster_id", "log_offset", "items",
    "decisions", "closed_at", "closed_by", "digest", "hash", "sound_files",
)  # fmt: skip


def _refuse(context: Context, path: str, reasons: Sequence[str]) -> None:
    """Write why evidence is refused, and end with 1."""
    answer = Answer(
        title="Evidence",
        columns=_VERIFIED,
        rows=[(False, False, list(reasons), *[None] * (len(_VERIFIED) - 3))],
        parts=lambda: [Sentence(f"Refused: {path}.", "bad"), *map(Sentence, reasons)],
    )
    context.write(answer)
    click.get_current_context().exit(_REFUSED)


def _sound_answer(
    found: Evidence, again: Reproduced, beside: Checked, *, is_reproduced: bool
) -> Answer:
    review, closing = found.review, found.closing
    how = "Sound and reproduced" if is_reproduced else "Sound"
    row: tuple[object, ...] = (
        True, is_reproduced, [], review.name, review.pins.cluster_id, review.pins.log_offset,
        len(review.items), len(found.decisions), closing.at, closing.by, review.digest, found.hash,
        list(beside.sound),
    )  # fmt: skip
    facts = [
        (name.replace("_", " "), str(value)) for name, value in zip(_VERIFIED, row, strict=True)
    ][3:-1]
    facts.append(("as written", ", ".join(("evidence.json", *beside.sound))))
    return Answer(
        title="Evidence",
        columns=_VERIFIED,
        rows=[row],
        parts=lambda: [Sentence(f"{how}: every byte is as it was written.", "good"), Facts(facts)],
        notes=(*beside.notes, *again.notes),
    )
