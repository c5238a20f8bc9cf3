"""Reviews of a folder → pages on which users decide; the only pages that write, decisions alone.

Whoever decides is whom a trusted proxy names. A form holds a token of its user, and the number of
the decision that the user saw: what was decided meanwhile is not decided over.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from aclkit.audit.review.answers import OPEN, STATES, note_words, state_of
from aclkit.audit.review.choosing import item_of, owner_words, wanted_of
from aclkit.audit.review.decisions import PAGE, Decision, Wanted
from aclkit.audit.review.document import About, Review
from aclkit.audit.review.folder import Stored, decide, load, names_of
from aclkit.audit.review.items import Item
from aclkit.audit.review.templates import day_of
from aclkit.audit.serve.auth import Auth
from aclkit.audit.serve.page import Given, Page, href, paged, whole_number
from aclkit.audit.serve.snapshot import Reading
from aclkit.errors import AclkitError, SurroundingsError, UsageError

REVIEWS: Final = "/reviews"
REVIEW: Final = "/review"
DECIDE: Final = "/review/decide"

_ROWS: Final = 50
_ALL: Final = "all"
UNREAD: Final = "A review cannot be read. The server's log has the reason."
_log = logging.getLogger(__name__)
_NO_OWNER: Final = "(none)"
"""How an address says that an item has no owner: an empty field is no choice."""


class Shown(NamedTuple):
    """An item on the page, with what is known of it and its decision."""

    item: Item
    about: About
    state: str
    made: Decision | None
    seen: int
    note: str


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """Takes decisions.

    Attributes:
        root: the folder of reviews.
        door: knows the tokens of forms.
    """

    root: Path
    door: Auth

    def reviews(self, reading: Reading) -> Page:
        """Return the reviews of the cluster, the newest first."""
        today = datetime.now(UTC).date()
        found, unread = list[Stored](), 0
        for name in names_of(self.root):
            try:
                found.append(self._read(name))
            except SurroundingsError:
                unread += 1
        mine = (each for each in found if _is_of(each, reading))
        newest = sorted(mine, key=lambda each: each.review.started_at, reverse=True)
        rows = [(each, (today - day_of(each.review.started_at)).days) for each in newest]
        return Page("reviews", {"rows": rows, "unread": unread})

    def review(self, reading: Reading, given: Given, user: str | None) -> Page:
        """Return the items of a review; they can be decided by users whom a proxy names."""
        stored = self._load(reading, given.get("review", ""))
        review, decisions = stored.review, stored.in_force
        owner, state = given.get("owner", ""), given.get("state", OPEN)
        words = given.get("words", "").lower().split()[:30]
        chosen = [
            _shown(review, decisions, item)
            for item in review.items
            if owner in ("", review.about[item.item_id].owner or _NO_OWNER)
            and state in (_ALL, state_of(review, decisions, item))
            and all(word in f"{item.words} {item.item_id}".lower() for word in words)
        ]
        return Page("review", {
            "stored": stored,
            "owners": _owners(review),
            "owner": owner,
            "states": (*STATES, _ALL),
            "state": state,
            "words": given.get("words", ""),
            "user": user,
            "open_to_all": sum(not about.logins for about in review.about.values()),
            "token": None if user is None or stored.is_closed else self.door.form_token(user),
            "anchor": given.get("item", ""),
            **paged(chosen, given, _ROWS),
        })  # fmt: skip

    def decide(self, reading: Reading, given: Given, user: str | None) -> Page:
        """Write the decision of a form, and lead back to the page that it came from.

        Raises:
            UsageError: nobody is named, the form is not of this user, the item has other logins,
                the review is closed, or the item was decided meanwhile.
        """
        if user is None:
            raise UsageError(
                "Decisions need a user whom a trusted proxy names. Start aclkit serve with "
                "--trusted-proxy and --user-header."
            )
        if not self.door.knows_form(user, given.get("csrf", "")):
            raise UsageError(
                "This form is not yours, or the server was started anew. Load it again."
            )
        stored = self._load(reading, given.get("review", ""))

        def choose(now: Stored) -> Sequence[Wanted]:
            item = item_of(now.review, given.get("item", ""))
            if not now.review.about[item.item_id].may_decide(user):
                raise UsageError(f"You cannot decide item {item.item_id}: it has other logins.")
            made = now.in_force.get(item.item_id)
            if whole_number(given.get("seen", "")) != (made.number if made else 0):
                who = f"{made.by} decided {made.decision}" if made else "the decision is gone"
                raise UsageError(
                    f"Item {item.item_id} was decided meanwhile: {who}. Load it again."
                )
            return wanted_of(
                [item], given.get("decision", ""), given.get("reason", ""), user, now.in_force,
                replaces=True,
            )  # fmt: skip

        decide(self.root, stored.review.name, choose, PAGE)
        back = {key: given.get(key, "") for key in ("owner", "state", "words", "page")}
        return Page(leads_to=href(REVIEW, review=stored.review.name, **back))

    def _load(self, reading: Reading, name: str) -> Stored:
        """Return a review of the cluster; not even that those of others exist is shown."""
        stored = self._read(name) if name in names_of(self.root) else None
        if stored is None or not _is_of(stored, reading):
            raise UsageError(f"This cluster has no review {name!r}.")
        return stored

    def _read(self, name: str) -> Stored:
        """Read a review; what is wrong with it names its place, so the log alone has it.

        Raises:
            SurroundingsError: it cannot be read.
        """
        try:
            return load(self.root, name)
        except AclkitError as error:
            _log.warning("warning: %s", error)
            raise SurroundingsError(UNREAD) from None


def _is_of(stored: Stored, reading: Reading) -> bool:
    return stored.review.pins.cluster_id == reading.cluster_id


def _shown(review: Review, decisions: Mapping[str, Decision], item: Item) -> Shown:
    about, made = review.about[item.item_id], decisions.get(item.item_id)
    state = state_of(review, decisions, item)
    return Shown(item, about, state, made, made.number if made else 0, note_words(about))


def _owners(review: Review) -> list[tuple[str, str]]:
    """Return the owners as addresses have them and as people read them, none of them first."""
    names = sorted({about.owner for about in review.about.values()})
    return [(name or _NO_OWNER, owner_words(name)) for name in names]
