"""What a file says about the ACLs of a cluster: ACLs, owners and changes, each with its place.

Every format is read into one ``Part``. A part lists the ACLs that shall exist, and what the file
has a right to remove: its ``reach``. Nothing is decided here. Pure.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, Literal

from aclkit.errors import DataError
from aclkit.model.acl import Acl
from aclkit.runtime.notation import MOST_VALUES, most_values

Reach = Literal["change", "owners", "all", "asked"]
"""What a file replaces: a plan makes its own ``change``; KafkaUsers replace the ACLs of their
``owners``; a listing is ``all`` of the cluster; of other forms the user must be ``asked``."""

FRESH: Final = "User:<known after apply: {}>"
"""The text of a principal that a plan creates and whose name is not known before."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands: in a file, on a line, or in a resource of Terraform.

    >>> str(Place("users.yaml", 14)), str(Place("plan.json", address="kafka_acl.a"))
    ('users.yaml:14', 'plan.json: kafka_acl.a')
    """

    file: str
    line: int = 0
    address: str = ""

    def __str__(self) -> str:
        """Write it as compilers do; a resource by its address."""
        if self.address:
            return f"{self.file}: {self.address}"
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class DesiredAcl:
    """An ACL that a file holds.

    Attributes:
        acl: its seven fields; ``acl_id`` is empty, because files know none.
        place: where it stands.
        sensitive: names of fields that its plan marks as sensitive: such a field decides, and is
            written in csv and json, but in nothing that people read or publish.
        cluster: the cluster that it is for, where the file names it.
        is_fresh: its principal is one that the plan creates, see ``FRESH``.
        until: when it ends, in UTC, where the file says so.
    """

    acl: Acl
    place: Place
    sensitive: frozenset[str] = frozenset()
    cluster: str | None = None
    is_fresh: bool = False
    until: datetime | None = None

    @property
    def binding(self) -> tuple[str, ...]:
        """The seven fields."""
        return self.acl.binding


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """What a plan does to the ACL of one resource.

    Attributes:
        place: with the address of the resource.
        actions: those of the plan.
        deletes: the ACL that is deleted.
        creates: the ACL that is created.
        keeps: the ACL that the resource holds before and after.
        forgets: the ACL that leaves the tool's state and stays on the cluster.
        is_create_first: the ACL is created before the other one is deleted.
        cluster: the cluster that it is for, where the file names it.
        is_deferred: the plan leaves it for a later one.
        is_elsewhere_perhaps: the plan is for several clusters and does not say for which one it is.
    """

    place: Place
    actions: tuple[str, ...]
    deletes: DesiredAcl | None = None
    creates: DesiredAcl | None = None
    keeps: DesiredAcl | None = None
    forgets: DesiredAcl | None = None
    is_create_first: bool = False
    cluster: str | None = None
    is_deferred: bool = False
    is_elsewhere_perhaps: bool = False

    @property
    def acls(self) -> Iterator[DesiredAcl]:
        """The ACLs that it is about, whatever becomes of them."""
        return filter(None, (self.deletes, self.creates, self.keeps, self.forgets))


@dataclass(frozen=True, slots=True)
class Owner:
    """A document that owns all ACLs of some principals, whether it lists them or not.

    Attributes:
        principals: each ACL of these that is not desired is removed.
        place: where the document stands.
        cluster: the cluster that it is for, where the file names it.
    """

    principals: tuple[str, ...]
    place: Place
    cluster: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Why a file cannot be used: what is wrong, what is valid, and what to do."""

    place: Place
    text: str

    def __str__(self) -> str:
        """Write the place and the reason."""
        return f"{self.place}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one file holds.

    Attributes:
        document: the name of the file, as shown.
        form: the name of its format.
        reach: what it replaces.
        acls: the ACLs that shall exist, in the order of the file.
        changes: of a plan, the changes of all its resources.
        owners: of KafkaUsers, whose ACLs they own.
        untouched: of KafkaUsers that are paused: their ACLs stay as they are, listed or not.
        problems: why it cannot be used; with one, nothing of it may be used.
        notes: what a reader must know.
        unread: kinds of documents or resources that may hold ACLs and are not read, and how many.
        unjudged: parts of it that change ACLs perhaps and are not read, in words.
        unknown: what else the ACLs at the end depend on and nobody can know yet, in words.
    """

    document: str
    form: str
    reach: Reach
    acls: Sequence[DesiredAcl] = ()
    changes: Sequence[ResourceChange] = ()
    owners: Sequence[Owner] = ()
    untouched: Sequence[Owner] = ()
    problems: Sequence[Problem] = ()
    notes: Sequence[str] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    unjudged: Sequence[str] = ()
    unknown: Sequence[str] = ()


class NotJsonError(ValueError):
    """A text is not JSON; ``line`` is where."""

    def __init__(self, line: int) -> None:
        """Keep the line."""
        super().__init__(f"line {line} is not JSON")
        self.line = line


@dataclass(frozen=True)
class Document:
    """A file that was read: its name and text.

    Attributes:
        name: as shown to people, without secrets.
        text: decoded, without a byte order mark. Bytes that are not UTF-8 are half surrogates.
    """

    name: str
    text: str

    def place(self, line: int = 0, address: str = "") -> Place:
        """Return a place in this file."""
        return Place(self.name, line, address)

    def lines(self) -> io.StringIO:
        """Return its lines with their ends; only a line feed ends one."""
        return io.StringIO(self.text, newline="\n")

    @cached_property
    def values(self) -> Sequence[object]:
        """The JSON values of the text, one after the other.

        Raises:
            NotJsonError: it holds something else.
            DataError: it holds more values than memory has room for.
        """
        return [*json_values(self, json.JSONDecoder())]

    @property
    def objects(self) -> Sequence[Mapping[str, object]]:
        """The JSON objects of the text; none where it holds anything else."""
        if not self.text.lstrip().startswith("{"):
            return ()
        try:
            values = self.values
        except NotJsonError:
            return ()
        return [value for value in values if isinstance(value, dict)]


def json_values(document: Document, decoder: json.JSONDecoder) -> Iterator[object]:
    """Yield the JSON values of a document, one after the other.

    Raises:
        NotJsonError: it holds something else.
        DataError: it holds more values than memory has room for.
    """
    text, at, is_bounded = document.text, 0, False
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text[at] in "[{" and not is_bounded:
            _require_few_values(document)
            is_bounded = True
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            position = getattr(error, "pos", at)
            raise NotJsonError(text.count("\n", 0, position) + 1) from None
        yield value


def _require_few_values(document: Document) -> None:
    if most_values(document.text) > MOST_VALUES:
        raise DataError(f"{document.name}: it has more than {MOST_VALUES:,} values. Split it")
