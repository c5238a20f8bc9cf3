"""review decide, export, import, close and verify: what owners decide → evidence of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from aclkit.answer.document import Answer, Facts, Sentence
from aclkit.audit.review.answers import open_of, torn_notes
from aclkit.audit.review.beside import Checked, check_beside, finish
from aclkit.audit.review.choosing import item_of, items_matching, sound_text, wanted_of
from aclkit.audit.review.closing import closed_answer, make_evidence, obstacles, removed_items
from aclkit.audit.review.decisions import (
    AT_CLOSE,
    CHOICES,
    COMMAND,
    CSV,
    KEEP,
    BrokenChainError,
    Wanted,
)
from aclkit.audit.review.evidence import EVIDENCE_PAGE, SCRIPT, Evidence, check_evidence
from aclkit.audit.review.folder import (
    EVIDENCE,
    Stored,
    append,
    changing,
    decide,
    load,
    load_one,
    now,
    write_closed,
)
from aclkit.audit.review.items import Item
from aclkit.audit.review.removal import plan_removal
from aclkit.audit.review.sheet import Filled, read_sheet, write_sheet
from aclkit.audit.review.starting import Reproduced, reproduce
from aclkit.audit.review.templates import PCI_DSS, gaps
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import command, question
from aclkit.cli.options import flag
from aclkit.cli.output import PROGRAMS, deliver, tell, tell_all
from aclkit.cli.review_start import (
    by_option,
    reason_option,
    review_option,
    reviews_folder,
    reviews_option,
)
from aclkit.errors import UsageError
from aclkit.model.phrases import number_of
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.state import State
from aclkit.rules.names.question import Budget
from aclkit.runtime.safe_read import LARGEST_DATA, read_file, read_text

_MOST_BROKEN = 20
_BROKEN = 1

replace_option = flag("--replace", "Change decisions that were made before.")


@command("decide")
@click.argument("items", nargs=-1, metavar="[ITEM]…")
@click.argument("decision", type=click.Choice(CHOICES), metavar="keep|remove")
@reason_option
@by_option
@click.option("--owner", metavar="NAME", help="All open items of this owner; '' is no owner.")
@click.option("--principal", metavar="GLOB", help="All open items of these principals.")
@replace_option
@review_option
@reviews_option
@click.pass_obj
def decide_items(
    context: Context,
    items: tuple[str, ...],
    decision: str,
    reason: str,
    by: str,
    owner: str | None,
    principal: str | None,
    review: str | None,
    reviews: str | None,
    *,
    replace: bool,
) -> None:
    """Decide whether items stay.

    \b
    Example:
      aclkit review decide i60388af5 keep --reason "analysts read it daily" --by bob
      aclkit review decide remove --principal 'User:old-*' --reason "left in May" --by bob
      aclkit review decide keep --owner payments --reason "checked on 2 May" --by bob

    ITEM is an id, or the beginning of one. Decisions are only ever added: with --replace the newer
    one counts, and the older one stays in the evidence.
    """
    has_filter = owner is not None or principal is not None
    if bool(items) == has_filter:
        raise UsageError("Pass either ITEMs, or --owner, --principal or both.")
    root = reviews_folder(context, reviews)
    name = load_one(root, review).review.name

    def choose(stored: Stored) -> list[Wanted]:
        tell_all(torn_notes(stored))
        chosen = (
            _open_items(stored, owner, principal, replace=replace)
            if has_filter
            else [item_of(stored.review, text) for text in dict.fromkeys(items)]
        )
        return wanted_of(chosen, decision, reason, by, stored.in_force, replaces=replace)

    made = decide(root, name, choose, COMMAND)
    tell(f"{number_of(len(made), 'decision')} added to review {name}: {decision}.")


def _open_items(
    stored: Stored, owner: str | None, principal: str | None, *, replace: bool
) -> Sequence[Item]:
    found = items_matching(stored.review, owner, principal)
    if not found:
        raise UsageError("No item matches --owner and --principal. Next: aclkit review show")
    if replace:
        return found
    return open_of(stored.review, stored.in_force, found)


@question("export")
@click.option("--owner", metavar="NAME", help="Only items of this owner; '' is no owner.")
@flag("--open", "Only items without a decision.")
@click.option("--output", metavar="FILE.csv", help="File to write. Default: stdout.")
@review_option
@reviews_option
@click.pass_obj
def export_sheet(
    context: Context,
    /,
    owner: str | None,
    output: str | None,
    review: str | None,
    reviews: str | None,
    **chosen: bool,
) -> None:
    """Export items as CSV, to fill in decisions.

    \b
    Example:
      aclkit review export --output review.csv
      aclkit review export --owner payments --open --output payments.csv

    Fill in the columns decision (keep or remove) and reason. Then import the file. Spreadsheets run
    no cell of it as a formula.
    """
    stored = load_one(reviews_folder(context, reviews), review)
    decisions = stored.in_force
    items = items_matching(stored.review, owner, None)
    if chosen["open"]:
        items = open_of(stored.review, decisions, items)
    deliver(write_sheet(stored.review, decisions, items), output, PROGRAMS, may_page=False)


@command("import")
@click.argument("file", metavar="FILE.csv")
@by_option
@replace_option
@flag("--skip-broken", "Import sound rows even if others are broken, and exit with code 1.")
@review_option
@reviews_option
@click.pass_obj
def import_sheet(
    context: Context,
    file: str,
    by: str,
    review: str | None,
    reviews: str | None,
    *,
    replace: bool,
    skip_broken: bool,
) -> None:
    """Import the decisions of a filled-in CSV.

    \b
    Example:
      aclkit review import payments.csv --by bob
      aclkit review import payments.csv --by bob --skip-broken

    Rows without a decision are skipped. If any row is broken, nothing is imported, unless you pass
    --skip-broken. A row is broken if its item is unknown, its digest is of another review, its
    principal, resource or access is not that of the item, it has no reason, the file decides the
    item twice, or another decision exists (see --replace). The same decision with another reason
    replaces no other person's signature. Importing a file again changes nothing.
    """
    root = reviews_folder(context, reviews)
    name = load_one(root, review).review.name
    text = read_text(file, LARGEST_DATA)
    with changing(root, name) as stored:
        tell_all(torn_notes(stored))
        found = read_sheet(text, file, stored.review, stored.in_force, by, replaces=replace)
        if found.broken and not skip_broken:
            raise UsageError(_broken_words(found))
        made = append(stored, found.wanted, CSV)
    if found.broken:
        tell_all(found.broken[:_MOST_BROKEN])
    rows = number_of(found.undecided, "row has", "rows have")
    tell(f"{number_of(len(made), 'decision')} added to review {name}. {rows} no decision.")
    if found.broken:
        tell(f"{number_of(len(found.broken), 'row is', 'rows are')} broken and left out.")
        click.get_current_context().exit(_BROKEN)


def _broken_words(found: Filled) -> str:
    more = len(found.broken) - _MOST_BROKEN
    rest = [f"and {more:,} more"] if more > 0 else []
    return "\n".join([
        f"{number_of(len(found.broken), 'row is', 'rows are')} broken, so nothing was imported. "
        "To import the others, pass --skip-broken.",
        *found.broken[:_MOST_BROKEN],
        *rest,
    ])  # fmt: skip


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
            left = open_of(stored.review, stored.in_force, stored.review.items)
            wanted = wanted_of(left, open_as, _NOT_DECIDED, closer, {}, replaces=False)
            append(stored, wanted, AT_CLOSE)
            stored = load(root, name)
        evidence = _close(stored, base, closer, (acknowledged_by or "").strip())
    context.stand_on_states(base)
    tell_all(base.notes)
    paths = [str(stored.place / each) for each in (EVIDENCE, EVIDENCE_PAGE, SCRIPT)]
    context.write(closed_answer(evidence, paths))


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
