"""What diff is given about a second cluster → the states of both clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aclkit.cli.context import Context
from aclkit.cli.options import Text, gathered, option, together
from aclkit.errors import UsageError
from aclkit.model.moment import parse_moment
from aclkit.questions.clusters.mapped_acls import Maps, maps_of
from aclkit.questions.read_state import Moment, Warehouse, read_state
from aclkit.questions.state import State
from aclkit.warehouse.location import Location


@dataclass(frozen=True, slots=True)
class Other:
    """The second cluster.

    Attributes:
        other: its id; None if it is the only one of its warehouse, or none was named.
        other_warehouse: its warehouse; None is that of the first cluster.
        name_rules: rules for names of resources, as texts.
        principal_rules: rules for principals.
    """

    other: str | None
    other_warehouse: str | None
    name_rules: tuple[str, ...]
    principal_rules: tuple[str, ...]

    @property
    def is_given(self) -> bool:
        """Whether a second cluster was named.

        Raises:
            UsageError: there are rules, but no cluster to use them for.
        """
        if self.other is not None or self.other_warehouse is not None:
            return True
        if self.name_rules or self.principal_rules:
            raise UsageError("--map needs a second cluster. Pass --with CLUSTER.")
        return False

    @property
    def maps(self) -> Maps:
        """The rules.

        Raises:
            UsageError: one is none, or they contradict each other.
        """
        return maps_of(self.name_rules, self.principal_rules)


other_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option("--with", "other", metavar="CLUSTER", help="Compare with this cluster.", envvar=None),
    option(
        "--with-warehouse",
        "other_warehouse",
        metavar="DIR",
        help="Warehouse of the other cluster. Default: --warehouse.",
        envvar=None,
    ),
    option(
        "--map",
        "name_rules",
        type=Text(),
        multiple=True,
        metavar="FROM=TO",
        help="Names that begin with FROM begin with TO there. Repeatable.",
        envvar=None,
    ),
    option(
        "--map-principal",
        "principal_rules",
        type=Text(),
        multiple=True,
        metavar="FROM=TO",
        help="The same for principals: User:stage-=User:prod-.",
        envvar=None,
    ),
    partial(gathered, "other", Other),
)
"""What diff takes about a second cluster."""


def read_clusters(context: Context, other: Other, moments: Sequence[str]) -> tuple[State, State]:
    """Read two clusters.

    Args:
        context: the shared options: the first cluster is theirs.
        other: the second cluster.
        moments: none is the newest run of each; one is a time for both; two are one for each.
    """
    at = _moments(moments)
    warehouse = context.asked_warehouse()
    theirs = other.other_warehouse or warehouse
    if other.other_warehouse is not None:
        context.reach(Location(theirs))
    first, second = told_apart(
        read_state(Warehouse(warehouse, context.cluster), at[0]),
        read_state(Warehouse(theirs, other.other, "--with"), at[1]),
    )
    context.stand_on_states(first, second)
    return first, second


def told_apart(first: State, second: State) -> tuple[State, State]:
    """Return two clusters with labels that tell them apart: by moment or warehouse if need be.

    Raises:
        UsageError: both are one and the same state.
    """
    # Here: two files wait for no engine.
    from aclkit.warehouse.published import AsOf

    same_place, same_label = first.place == second.place, first.label == second.label
    if same_place and same_label and first.offset == second.offset:
        raise UsageError(
            f"{first.label!r} would be compared with itself. Name another cluster, or "
            "pass two offsets."
        )
    labels = [each.label for each in (first, second)]
    if same_label:
        labels = [
            f"{each.label} " + (f"at offset {each.offset}" if same_place else f"of {each.place}")
            for each in (first, second)
        ]
    one, other = (
        replace(
            each,
            label=label,
            as_of=AsOf(each.time, each.offset, of=label),
        )
        for label, each in zip(labels, (first, second), strict=True)
    )
    return one, other


def _moments(texts: Sequence[str]) -> tuple[Moment, Moment]:
    found = [parse_moment(text) for text in texts]
    if len(found) == 1 and isinstance(found[0], int):
        raise UsageError(
            f"Offset {found[0]} cannot be meant for both clusters: each has its own log. Pass a "
            "time, or two offsets."
        )
    if not found:
        return None, None
    return found[0], found[-1]
