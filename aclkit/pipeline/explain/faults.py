"""The written tables → the first thing that is wrong in them, in words. SQL.

One list of all that can be wrong, the inventory aside, which is compared with the scope by itself
(``read_back``). Each fault is a SELECT that finds none in complete tables, and whose result is
one small row. Where the tables are large Spark runs the whole list. Where they are not, numpy
proves in a fraction of that time that nothing is wrong (``counted``), and the list is asked only
to say what is.

The steps below the faults reduce pairs and rulings to their rulesets, so that most of the list
asks of as many rows as there are rulesets. A ruleset has one ruling of any other host for each
operation of its type only if their powers of two add up to the type's, and are as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import Template
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import ANY_OTHER
from aclkit.model.enums import AclOperation
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.pipeline.explain.rows import default_rulesets
from aclkit.rules.decide import rules
from aclkit.warehouse.reader import Asks
from aclkit.warehouse.views import SUPER_RULESET

KEYS: Final = {
    "principal": ("principal",),
    "host": ("host",),
    "resource": ("resource_type", "resource_name"),
    "ruleset": ("ruleset_id",),
    "explain_pair": ("principal", "resource_type", "resource_name"),
    "explain_class_pair": ("principal_class", "resource_type", "resource_name"),
    "explain_ruling": ("ruleset_id", "host", "operation"),
}
"""Table → the columns of which no two of its rows have the same values."""

COLUMNS: Final = {name: KEYS[name] for name in ("principal", "resource", "host", "ruleset")} | {
    "class": ("principal_class",),
    "ruling": ("host", "operation", "decision", "rule"),
}
"""What a name is of → the columns that have it."""

TYPES: Final = tuple(OPERATIONS_OF_TYPE)
NO_TYPE: Final = "no type"
"""Of the ruleset of super users, which has rulings for the operations of all types."""

OPERATIONS: Final = tuple(AclOperation.__members__)
BITS: Final = {operation: 1 << place for place, operation in enumerate(OPERATIONS)}

DECISIONS: Final = (rules.ALLOWED, rules.DENIED)
RULES: Final = (rules.SUPER_USER, rules.MATCHING_ACL, rules.DEFAULT_ALLOW, rules.DEFAULT_DENY)

USED_BY_PAIR: Final = "used_by_pair"
USED_BY_CLASS: Final = "used_by_class"
RULED: Final = "ruled"
WAY: Final = "way"
"""Steps whose rows are counted, and of which samples are drawn."""


def refuse_faults(asked: Asks) -> None:
    """Insist that nothing is wrong in the tables of pairs, rulesets and rulings.

    The steps stay, as tables that ``asked`` knows.

    Raises:
        DataError: it says what is wrong, and in which row.
    """
    for name, sql in _SEEN.items():
        asked.see(name, Template(sql).substitute(_WORDS))
    for name, sql in _KEPT.items():
        asked.keep(name, Template(sql).substitute(_WORDS))
    for fault in _faults():
        fault.refuse(asked)


def require_once(asked: Asks, table: str) -> None:
    """Insist that no key of a table occurs twice.

    Raises:
        DataError: it names the key.
    """
    _twice(table).refuse(asked)


@dataclass(frozen=True, slots=True)
class _Fault:
    """Something that can be wrong.

    Attributes:
        words: says so, with the values of the row that is shown; ``{row}`` is all of them.
        found: the SELECT of one row for it; of none where all is well.
        shown: the SELECT of the row to show, by the values found; empty for the one found. Where
            it gives none this is not what is wrong.
    """

    words: str
    found: str
    shown: str = ""

    def refuse(self, asked: Asks) -> None:
        """Raise it where it is there."""
        rows = asked.rows(self.found)
        if rows and self.shown:
            rows = asked.rows(self.shown, *rows[0])
        if rows:
            raise DataError(self.words.format(*map(_word, rows[0]), row=tuple(rows[0])))


def _word(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _faults() -> Iterator[_Fault]:
    """Yield all that can be wrong; each may rely on what stands before it."""
    yield _twice("ruleset")
    yield _fault("Unknown resource_type in ruleset (ruleset_id, resource_type): {row}", _OF_NO_TYPE)
    yield from _faults_of_pairs("explain_pair", "principal", USED_BY_PAIR)
    yield _fault(f"{_HAVING}, which is {{4}}'s", _OF_TWO, _IS_ANOTHERS, **_words("explain_pair"))
    yield _twice("explain_pair")
    yield from _faults_of_pairs("explain_class_pair", "class", USED_BY_CLASS)
    yield _twice("explain_class_pair")
    lacking = "Expected a row in explain_class_pair, found none: {row}"
    yield _fault(lacking, _LACKING_CLASS, _NO_CLASS_PAIR)
    yield _fault("Expected a row of $super in ruleset: there are super users", _NO_SUPER)
    yield _fault("Ruleset {0} is that of no pair", _UNUSED)
    yield _unknown_ruleset("explain_ruling", RULED)
    yield _fault(_UNKNOWN, _UNKNOWN_RULING, **_words("explain_ruling", "ruling"))
    yield _fault("Ruleset {0} of {1} has a ruling for {2}", _MORE_RULED, _FOREIGN_OPERATION)
    yield _twice("explain_ruling", "WHERE host <> $any_other")
    yield _fault(_TWICE, _WRONG, _ANY_OTHER_TWICE, **_words("explain_ruling"))
    yield _fault(f"Ruleset {{0}} has no ruling of {ANY_OTHER} for {{1}}", _WRONG, _NOT_RULED)


def _faults_of_pairs(table: str, of: str, used: str) -> Iterator[_Fault]:
    """Yield what can be wrong in a table of pairs: a name, or the type of a ruleset."""
    (who,) = COLUMNS[of]
    words = {"used": used, "who": who}
    yield _fault(_UNKNOWN, _UNKNOWN_WHO, _WITH_WHO, **words, **_words(table, of))
    yield _fault(_UNKNOWN, _UNKNOWN_RESOURCE, **words, **_words(table, "resource"))
    yield _unknown_ruleset(table, used)
    other = f"{_HAVING}, which is of {{4}}"
    yield _fault(other, _OF_OTHER_TYPE, _WITH_OTHER_TYPE, **words, **_words(table))


def _unknown_ruleset(table: str, used: str) -> _Fault:
    return _fault(_UNKNOWN, _UNKNOWN_RULESET, _WITH_RULESET, used=used, **_words(table, "ruleset"))


def _twice(table: str, where: str = "") -> _Fault:
    return _fault(_TWICE, _KEY_TWICE.replace("$where", where), **_words(table))


def _fault(words: str, *statements: str, **more: str) -> _Fault:
    """Return a fault, with its words and those of all put into its texts."""
    texts = (Template(text).substitute(_WORDS, **more) for text in (words, *statements))
    return _Fault(*texts)


def _words(table: str, of: str = "") -> dict[str, str]:
    """Return the words about a table, and about what a name in it is of."""
    shown = dict.fromkeys((*KEYS[table], *COLUMNS.get(of, ())))
    return {"table": table, "key": ", ".join(KEYS[table]), "of": of, "shown": ", ".join(shown)}


def _listed(values: Iterable[object]) -> str:
    """Write this package's own words and numbers as SQL has them."""
    return ", ".join(map(repr, values))


_EVERY: Final = {operation for known in OPERATIONS_OF_TYPE.values() for operation in known}
_OPERATIONS_OF: Final = {**OPERATIONS_OF_TYPE, NO_TYPE: sorted(_EVERY)}
_WORDS: Final = {
    "super": repr(SUPER_RULESET),
    "any_other": repr(ANY_OTHER),
    "no_type": repr(NO_TYPE),
    "types": _listed(TYPES),
    "operations": _listed(OPERATIONS),
    "decisions": _listed(DECISIONS),
    "rules": _listed(RULES),
    "defaults": _listed(ruleset_id for ruleset_id, *_ in default_rulesets()),
    "bit_of_operation": " ".join(f"WHEN {name!r} THEN {bit}" for name, bit in BITS.items()),
    "known_types": _listed(
        (of, sum(map(BITS.__getitem__, known)), len(known)) for of, known in _OPERATIONS_OF.items()
    ),
    "known_operations": _listed(
        (of, name) for of, known in _OPERATIONS_OF.items() for name in known
    ),
}
_SEEN: Final = {
    "known_type": "SELECT * FROM (VALUES $known_types) AS k(of_type, bits, operations)",
    "known_operation": "SELECT * FROM (VALUES $known_operations) AS k(of_type, operation)",
    "typed_ruleset": """\
SELECT ruleset_id, CASE WHEN ruleset_id = $super THEN $no_type ELSE resource_type END AS of_type
FROM ruleset""",
}
# Of every ruleset: who has it, and which operations it rules on. Sums of the bits of operations
# tell them all apart as long as there is one ruling for each.
_KEPT: Final = {
    USED_BY_PAIR: """\
SELECT principal, resource_type, ruleset_id, count(*) AS pairs
FROM explain_pair GROUP BY principal, resource_type, ruleset_id""",
    USED_BY_CLASS: """\
SELECT principal_class, resource_type, ruleset_id, count(*) AS pairs
FROM explain_class_pair GROUP BY principal_class, resource_type, ruleset_id""",
    WAY: """\
SELECT ruleset_id, is_named, decision, rule,
       CAST(sum(bit) AS BIGINT) AS sums, bit_or(bit) AS bits, count(*) AS rulings
FROM (SELECT ruleset_id, host <> $any_other AS is_named, decision, rule,
             CASE operation $bit_of_operation END AS bit
      FROM explain_ruling) AS r
GROUP BY ruleset_id, is_named, decision, rule""",
    RULED: """\
SELECT ruleset_id, bit_or(bits) AS bits, CAST(sum(rulings) AS BIGINT) AS rulings,
       CAST(sum(CASE WHEN is_named THEN 0 ELSE sums END) AS BIGINT) AS sums,
       CAST(sum(CASE WHEN is_named THEN 0 ELSE rulings END) AS BIGINT) AS others
FROM way GROUP BY ruleset_id""",
    # Those that lack a ruling of any other host, or have one twice.
    "wrong_ruleset": """\
SELECT t.ruleset_id, t.of_type
FROM typed_ruleset t
JOIN known_type k ON k.of_type = t.of_type
LEFT JOIN ruled u ON u.ruleset_id = t.ruleset_id
WHERE coalesce(u.sums, 0) <> k.bits OR coalesce(u.others, 0) <> k.operations""",
}
_TWICE: Final = "Expected one row per $key in $table, found {row}"
_KEY_TWICE: Final = """\
SELECT $key, count(*) AS n FROM $table $where
GROUP BY $key HAVING count(*) > 1 ORDER BY $key LIMIT 1"""
_UNKNOWN: Final = "Unknown $of in $table ($shown): {row}"
_UNKNOWN_WHO: Final = """\
SELECT u.$who
FROM $used u LEFT JOIN (SELECT DISTINCT $who FROM principal) n ON n.$who = u.$who
WHERE n.$who IS NULL ORDER BY u.$who LIMIT 1"""
_WITH_WHO: Final = """\
SELECT $shown FROM $table WHERE $who IS NOT DISTINCT FROM ? ORDER BY $shown LIMIT 1"""
_UNKNOWN_RESOURCE: Final = """\
SELECT t.$who, t.resource_type, t.resource_name
FROM $table t
LEFT JOIN resource n ON n.resource_type = t.resource_type AND n.resource_name = t.resource_name
WHERE n.resource_name IS NULL ORDER BY t.$who, t.resource_type, t.resource_name LIMIT 1"""
_UNKNOWN_RULESET: Final = """\
SELECT u.ruleset_id
FROM $used u LEFT JOIN ruleset r ON r.ruleset_id = u.ruleset_id
WHERE r.ruleset_id IS NULL ORDER BY u.ruleset_id LIMIT 1"""
_WITH_RULESET: Final = """\
SELECT $shown FROM $table WHERE ruleset_id IS NOT DISTINCT FROM ? ORDER BY $shown LIMIT 1"""
_OF_NO_TYPE: Final = """\
SELECT ruleset_id, resource_type FROM ruleset
WHERE ruleset_id IS NULL
   OR (ruleset_id <> $super AND coalesce(resource_type, '') NOT IN ($types))
ORDER BY ruleset_id LIMIT 1"""
_HAVING: Final = "$table ($key): ({0!r}, {1!r}, {2!r}) has the ruleset {3}"
_OF_OTHER_TYPE: Final = """\
SELECT u.$who, u.ruleset_id, u.resource_type
FROM $used u JOIN typed_ruleset r ON r.ruleset_id = u.ruleset_id
WHERE r.of_type <> u.resource_type ORDER BY u.$who, u.ruleset_id, u.resource_type LIMIT 1"""
_WITH_OTHER_TYPE: Final = """\
SELECT t.$who, t.resource_type, t.resource_name, t.ruleset_id, r.of_type
FROM $table t JOIN typed_ruleset r ON r.ruleset_id = t.ruleset_id
WHERE t.$who = ? AND t.ruleset_id = ? AND t.resource_type = ? ORDER BY t.resource_name LIMIT 1"""
_OF_TWO: Final = """\
SELECT ruleset_id FROM used_by_pair
GROUP BY ruleset_id HAVING min(principal) <> max(principal) ORDER BY ruleset_id LIMIT 1"""
_IS_ANOTHERS: Final = """\
SELECT t.principal, t.resource_type, t.resource_name, t.ruleset_id, m.one
FROM explain_pair t
JOIN (SELECT ruleset_id, min(principal) AS one FROM used_by_pair GROUP BY ruleset_id) m
  ON m.ruleset_id = t.ruleset_id
WHERE t.ruleset_id = ? AND t.principal <> m.one
ORDER BY t.principal, t.resource_type, t.resource_name LIMIT 1"""
_LACKING_CLASS: Final = """\
SELECT c.principal_class
FROM (SELECT DISTINCT principal_class FROM principal WHERE NOT is_super_user) c
CROSS JOIN (SELECT count(*) AS resources FROM resource) r
LEFT JOIN (SELECT principal_class, sum(pairs) AS pairs FROM used_by_class
           GROUP BY principal_class) u ON u.principal_class = c.principal_class
WHERE coalesce(u.pairs, 0) < r.resources ORDER BY c.principal_class LIMIT 1"""
_NO_CLASS_PAIR: Final = """\
SELECT c.principal_class, r.resource_type, r.resource_name
FROM (SELECT DISTINCT principal_class FROM principal WHERE principal_class = ?) c
CROSS JOIN resource r
LEFT JOIN explain_class_pair p ON p.principal_class = c.principal_class
 AND p.resource_type = r.resource_type AND p.resource_name = r.resource_name
WHERE p.resource_name IS NULL ORDER BY r.resource_type, r.resource_name LIMIT 1"""
_NO_SUPER: Final = """\
SELECT p.supers
FROM (SELECT count(*) AS supers FROM principal WHERE is_super_user) p
CROSS JOIN (SELECT count(*) AS rulesets FROM ruleset WHERE ruleset_id = $super) r
WHERE p.supers > 0 AND r.rulesets = 0"""
_UNUSED: Final = """\
SELECT r.ruleset_id
FROM ruleset r
LEFT JOIN (SELECT ruleset_id FROM used_by_pair UNION SELECT ruleset_id FROM used_by_class) u
  ON u.ruleset_id = r.ruleset_id
WHERE u.ruleset_id IS NULL AND r.ruleset_id NOT IN ($defaults) ORDER BY r.ruleset_id LIMIT 1"""
_UNKNOWN_RULING: Final = """\
SELECT t.ruleset_id, t.host, t.operation, t.decision, t.rule
FROM explain_ruling t LEFT JOIN host h ON h.host = t.host
WHERE (h.host IS NULL AND coalesce(t.host, '') <> $any_other)
   OR coalesce(t.operation, '') NOT IN ($operations)
   OR coalesce(t.decision, '') NOT IN ($decisions)
   OR coalesce(t.rule, '') NOT IN ($rules)
ORDER BY t.ruleset_id, t.host, t.operation LIMIT 1"""
_MORE_RULED: Final = """\
SELECT u.ruleset_id
FROM ruled u
JOIN typed_ruleset t ON t.ruleset_id = u.ruleset_id
JOIN known_type k ON k.of_type = t.of_type
WHERE (u.bits | k.bits) <> k.bits ORDER BY u.ruleset_id LIMIT 1"""
_FOREIGN_OPERATION: Final = """\
SELECT t.ruleset_id, t.of_type, r.operation
FROM explain_ruling r
JOIN typed_ruleset t ON t.ruleset_id = r.ruleset_id
LEFT JOIN known_operation o ON o.of_type = t.of_type AND o.operation = r.operation
WHERE r.ruleset_id = ? AND o.operation IS NULL ORDER BY r.operation LIMIT 1"""
_WRONG: Final = "SELECT ruleset_id FROM wrong_ruleset ORDER BY ruleset_id LIMIT 1"
_ANY_OTHER_TWICE: Final = """\
SELECT ruleset_id, host, operation, count(*) AS n FROM explain_ruling
WHERE ruleset_id = ? GROUP BY ruleset_id, host, operation HAVING count(*) > 1
ORDER BY host, operation LIMIT 1"""
_NOT_RULED: Final = """\
SELECT w.ruleset_id, list_sort(list(o.operation)) AS lacking
FROM wrong_ruleset w
JOIN known_operation o ON o.of_type = w.of_type
LEFT JOIN explain_ruling r ON r.ruleset_id = w.ruleset_id AND r.operation = o.operation
 AND r.host = $any_other
WHERE w.ruleset_id = ? AND r.ruleset_id IS NULL
GROUP BY w.ruleset_id"""
