"""review decide, export and import: what owners decide → entries of a review's chain."""

from __future__ import annotations

from collections.abc import Sequence

import click

from aclkit.audit.review.answers import OPEN, state_of, torn_notes
from aclkit.audit.review.choosing import item_of, items_matching, wanted_of
from aclkit.audit.review.decisions import CHOICES, COMMAND, CSV, Wanted
from aclkit.audit.review.folder import Stored, append, changing, decide, load_one
from aclkit.audit.review.items import Item
from aclkit.audit.review.sheet import Filled, read_sheet, write_sheet
from aclkit.cli.context import Context
from aclkit.cli.encoding import PROGRAMS
from aclkit.cli.help import command, question
from aclkit.cli.options import flag
from aclkit.cli.output import deliver, tell, tell_all
from aclkit.cli.review_options import (
    by_option,
    reason_option,
    review_option,
    reviews_folder,
    reviews_option,
)
from aclkit.errors import UsageError
from aclkit.model.phrases import number_of
from aclkit.runtime.safe_read import LARGEST_DATA, read_text

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
    return [item for item in found if state_of(stored.review, stored.in_force, item) == OPEN]


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
        items = [item for item in items if state_of(stored.review, decisions, item) == OPEN]
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
