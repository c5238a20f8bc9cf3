"""Named SELECTs, each asking those before it, and those of two sides."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template


def of_sides(
    steps: Mapping[str, str], sides: Mapping[str, Mapping[str, str]], words: Mapping[str, str]
) -> dict[str, str]:
    """Return steps with their words put in; one with ``SIDE`` in its name once for each side.

    Args:
        steps: name → SELECT, with ``$word`` in it.
        sides: name of a side, which is ``$side`` in its steps → words of these alone.
        words: of all steps.

    >>> of_sides({"SIDE_one": "SELECT $n FROM ${side}_x"}, {"was": {}, "now": {}}, {"n": "1"})
    {'was_one': 'SELECT 1 FROM was_x', 'now_one': 'SELECT 1 FROM now_x'}
    """
    return {
        name.replace("SIDE", side): Template(sql).substitute(words, side=side, **own)
        for name, sql in steps.items()
        for side, own in (sides.items() if "SIDE" in name else [("", {})])
    }


def own_pairs_sql(one: str, other: str, own_of_one: str, own_of_other: str) -> str:
    """Return the SELECT of the pairs with a ruleset of their own on one of two sides.

    Args:
        one: a side, whose table is ``{one}_explain_pair``.
        other: another.
        own_of_one: how the column with the first's ruleset is called.
        own_of_other: and that with the other's.
    """
    return f"""\
SELECT coalesce(a.principal, b.principal) AS principal,
       coalesce(a.resource_type, b.resource_type) AS resource_type,
       coalesce(a.resource_name, b.resource_name) AS resource_name,
       a.ruleset_id AS {own_of_one}, b.ruleset_id AS {own_of_other}
FROM {one}_explain_pair a
FULL JOIN {other}_explain_pair b ON b.principal = a.principal
 AND b.resource_type = a.resource_type AND b.resource_name = a.resource_name"""  # noqa: S608 -- names of this package
