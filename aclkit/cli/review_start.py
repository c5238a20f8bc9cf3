"""review start, list, show and status: a warehouse → a new review; reviews → where they stand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Final

import click

from aclkit.audit.review.answers import (
    items_answer,
    list_answer,
    open_of,
    started_answer,
    status_answer,
)
from aclkit.audit.review.attributes import COLUMNS, OwnerRow, read_rows
from aclkit.audit.review.choosing import items_matching, sound_text
from aclkit.audit.review.evidence import Evidence
from aclkit.audit.review.folder import create, evidence_of, load, load_all, load_one, names_of, now
from aclkit.audit.review.starting import (
    NewReview,
    new_review,
    read_acls_of,
    read_item_ends,
    read_item_use,
)
from aclkit.audit.review.templates import PCI_DSS, TEMPLATES, is_still_valid
from aclkit.cli.context import Context, format_option
from aclkit.cli.help import COMMANDS, LazyGroup, command, question
from aclkit.cli.options import Text, flag, option
from aclkit.cli.output import tell
from aclkit.cli.settings import none_named
from aclkit.cli.use_options import log_options
from aclkit.errors import UsageError
from aclkit.model.phrases import few
from aclkit.pipeline.inventory.sheet import Columns, read_sheet
from aclkit.questions.read_state import Warehouse, read_state
from aclkit.questions.usage.read_use import LogOptions
from aclkit.rules.names.question import Budget
from aclkit.runtime.notation import parse_tables, shown_key
from aclkit.runtime.safe_read import read_text
from aclkit.runtime.uri import is_uri
from aclkit.warehouse.location import Location

_SUFFIX: Final = ".reviews"

reviews_option = option(
    "--reviews", metavar="DIR", help="Local folder of reviews. Default: WAREHOUSE.reviews."
)
review_option = option("--review", metavar="NAME", help="The review. Default: the only open one.")
by_option = option("--by", metavar="NAME", required=True, help="Your name, kept with it.")
reason_option = option("--reason", metavar="TEXT", required=True, type=Text(), help="Why.")


def reviews_folder(context: Context, given: str | None) -> Path:
    """Return the folder of reviews: the given one, or the one next to a local warehouse.

    Raises:
        UsageError: it is no local folder, or none was given and there is no local warehouse.
    """
    if given is not None:
        if is_uri(given) or not given.strip():
            raise UsageError(f"--reviews needs a local folder, found {given!r}.")
        return Path(given)
    warehouse = context.find_warehouse()
    if warehouse is None:
        raise none_named()
    found = reviews_next_to(warehouse)
    if found is None:
        raise UsageError("Reviews are kept in a local folder. Pass --reviews DIR.")
    return found


def reviews_next_to(warehouse: str) -> Path | None:
    """Return the folder of reviews next to a warehouse; None where that is a bucket.

    It is not within the warehouse, which can be made again from the log: decisions cannot.
    """
    place = Location(warehouse)
    if place.is_remote:
        return None
    folder = place.folder.resolve()
    return folder.with_name(f"{folder.name}{_SUFFIX}")


@click.group(
    cls=LazyGroup,
    sections={
        COMMANDS: {
            "start": ("review_start", "start"),
            "list": ("review_start", "list_reviews"),
            "show": ("review_start", "show_items"),
            "decide": ("review_close", "decide_items"),
            "export": ("review_close", "export_sheet"),
            "import": ("review_close", "import_sheet"),
            "status": ("review_start", "status"),
            "close": ("review_close", "close_review"),
            "verify": ("review_close", "verify_evidence"),
        }
    },
)
def review() -> None:
    """Recertify access: owners decide what stays.

    \b
    Example:
      aclkit review start --owners owners.csv --by ana
      aclkit review decide i6038 keep --reason "needs it for the daily report" --by bob
      aclkit review close --by ana
      aclkit review verify warehouse.reviews/2026-11-27/evidence.json

    A review asks about decisions, not about ACL lines: who can do what on which names, because of
    which ACLs. It is pinned to a log offset. aclkit never writes to a cluster: what is removed
    comes out as a script, with its effect.
    """


_TOML: Final = ".toml"


@command("start")
@by_option
@click.option("--name", metavar="NAME", help="Name of the review. Default: the day.")
@option(
    "--owners",
    metavar="FILE",
    help="CSV or TOML: principal, resource → owner, purpose, class, contact, logins.",
)
@click.option("--since", metavar="NAME", help="Ask only for what changed since this review.")
@option("--template", type=click.Choice(TEMPLATES), help="Check the fields of a standard.")
@option(
    "--frequency",
    type=click.IntRange(1, 3_660),
    metavar="DAYS",
    help="How often access of applications and systems is reviewed.",
)
@option("--risk-analysis", type=Text(), metavar="TEXT", help="The document with that frequency.")
@log_options
@reviews_option
@format_option
@click.pass_obj
def start(
    context: Context,
    by: str,
    name: str | None,
    owners: str | None,
    since: str | None,
    template: str | None,
    frequency: int | None,
    risk_analysis: str | None,
    of_log: LogOptions,
    reviews: str | None,
) -> None:
    """Start a review of the published decisions.

    \b
    Example:
      aclkit review start --owners owners.csv --by ana
      aclkit review start --owners owners.toml --since 2026-q3 --name 2026-q4 --by ana
      aclkit review start --template pci-dss --frequency 365 --risk-analysis TRA-7 --by ana

    The items are every access that ACLs and broker settings allow, also of User:* and of super
    users, for existing and future names. In --owners a row has globs for principal, resource
    (topic:payments.*) or both; each field comes from the first row that matches and has it.
    Items without an owner are listed under "No owner".

    With --since, an item is carried over if it was kept then and allows no more now: no new ALLOW
    grants it, and both states of it are compared for every name. With --template pci-dss it is
    asked again before the sign-off is older than six months (7.2.4), or than --frequency (7.2.5.1).

    An item shows when it was last used, if aclkit usage has read the authorizer log. It is not used
    only if the log has all of --unused-days, all brokers and every line; otherwise use is unknown.
    """
    root = reviews_folder(context, reviews)
    rows = [] if owners is None else _read_owners(owners)
    earlier = None if since is None else _earlier(root, since)
    asked = NewReview(
        name=name or _free_name(root),
        at=now(),
        by=sound_text(by, "a name"),
        owners=rows,
        template=template or "",
        frequency_days=frequency,
        risk_analysis=(risk_analysis or "").strip(),
        earlier=earlier,
    )
    if template == PCI_DSS:
        today = datetime.now(UTC).date()
        valid = partial(is_still_valid, today=today, frequency_days=frequency)
        asked = replace(asked, is_valid=valid)
    warehouse = context.asked_warehouse()
    base = read_state(Warehouse(warehouse, context.cluster))
    context.stand_on_states(base)
    use = read_item_use(warehouse, base.cluster_id, base.rules, of_log)
    ends = read_item_ends(warehouse, base.cluster_id)
    if earlier is not None:
        asked = replace(asked, earlier_acls=read_acls_of(warehouse, earlier.review))
    place = create(root, new_review(base, asked, Budget(), use, ends))
    context.write(started_answer(load(root, place.name)))
    tell(f"The review is in {place}.")


def _earlier(root: Path, name: str) -> Evidence:
    stored = load(root, name)
    if not stored.is_closed:
        raise UsageError(f"The review {name} is still open. Next: aclkit review close")
    return evidence_of(stored)


def _free_name(root: Path) -> str:
    """Return the day as a name, with a number where the day has a review already."""
    day, taken = datetime.now(UTC).date().isoformat(), set(names_of(root))
    numbered = (f"{day}-{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (day, *numbered) if name not in taken)


def _read_owners(path: str) -> list[OwnerRow]:
    """Read an owners' file, by its ending."""
    if PurePath(path).suffix.lower() == _TOML:
        tables = parse_tables(read_text(path), path, "owner")
        for where, table in tables.items():
            for key, value in table.items():
                if key not in COLUMNS or not isinstance(value, str):
                    names = ", ".join(COLUMNS)
                    raise UsageError(f"{where}: {shown_key(key)}: expected texts {names}")
        return read_rows(tables.values(), path)
    rows = list(read_sheet(path, Columns(names=COLUMNS, are_needed=False)))
    known = {name for row in rows for name in row}
    if rows and not known & set(COLUMNS[:2]):
        raise UsageError(f"{path}: expected a column principal, resource or both")
    if rows and "owner" not in known:
        raise UsageError(f"{path}: expected a column owner")
    if extra := sorted(known - set(COLUMNS)):
        tell(f"{path}: these columns are ignored: {few(map(shown_key, extra))}")
    return read_rows(rows, path)


@question("list")
@reviews_option
@format_option
@click.pass_obj
def list_reviews(context: Context, reviews: str | None) -> None:
    """List all reviews.

    \b
    Example:
      aclkit review list
      aclkit review list --reviews /srv/reviews --format csv
    """
    found = load_all(reviews_folder(context, reviews))
    context.write(list_answer(found, datetime.now(UTC).date()))


@question("show")
@review_option
@click.option("--owner", metavar="NAME", help="Only items of this owner; '' is no owner.")
@click.option("--principal", metavar="GLOB", help="Only items of these principals.")
@flag("--open", "Only items without a decision.")
@flag("--carried", "Also items that were carried over.")
@reviews_option
@format_option
@click.pass_obj
def show_items(
    context: Context,
    /,
    review: str | None,
    owner: str | None,
    principal: str | None,
    reviews: str | None,
    **chosen: bool,
) -> None:
    """Show the items of a review, by owner.

    \b
    Example:
      aclkit review show --open
      aclkit review show --owner payments-team
      aclkit review show --principal 'User:svc-*' --format csv

    Each item has its id, who can do what on which names, and the ACLs that grant it. Rows, as in
    --format csv, have all items, those carried over too.
    """
    stored = load_one(reviews_folder(context, reviews), review)
    items = items_matching(stored.review, owner, principal)
    if chosen["open"]:
        items = open_of(stored.review, stored.in_force, items)
    context.write(items_answer(stored, items, shows_carried=chosen["carried"]))


@question("status")
@review_option
@reviews_option
@format_option
@click.pass_obj
def status(context: Context, review: str | None, reviews: str | None) -> None:
    """Show how many items are decided, by owner.

    \b
    Example:
      aclkit review status
      aclkit review status --review 2026-q4 --format json
    """
    stored = load_one(reviews_folder(context, reviews), review)
    context.write(status_answer(stored, datetime.now(UTC).date()))
