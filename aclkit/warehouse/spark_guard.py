"""One SELECT in Spark's SQL that a person wrote → the tables it reads, or a refusal.

Spark has no door to lock as DuckDB has: the text is parsed by Spark's own parser and nothing of
it is analyzed, let alone run, until every part of the tree is one of those known to be harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from aclkit.errors import UsageError

_OfTheJvm = Any
"""An object of Scala's, of which Python knows no type."""

_CATALYST: Final = "org.apache.spark.sql.catalyst."

_PLANS: Final = frozenset(
    f"{_CATALYST}{package}.{name}"
    for package, names in {
        "plans.logical": (
            "Aggregate", "CTERelationRef", "Distinct", "Except", "Filter", "Generate",
            "GlobalLimit", "Intersect", "Join", "LateralJoin", "LocalLimit", "LocalRelation",
            "Offset", "OneRowRelation", "Pivot", "Project",
            "RepartitionByExpression", "Sample", "Sort", "SubqueryAlias", "Union", "Unpivot",
            "UnresolvedHint", "UnresolvedWith", "WithWindowDefinition",
        ),
        "analysis": (
            "UnresolvedHaving", "UnresolvedInlineTable", "UnresolvedRelation",
            "UnresolvedSubqueryColumnAliases", "UnresolvedTableValuedFunction",
            "UnresolvedTVFAliases",
        ),
        "expressions": ("PipeOperator",),
    }.items()
    for name in names
)  # fmt: skip
"""Nodes of a query; commands, writes, scripts and reads of files are others."""

_UNRESOLVED: Final = frozenset(
    f"{_CATALYST}analysis.{name}"
    for name in (
        "MultiAlias", "UnresolvedAlias", "UnresolvedAttribute", "UnresolvedExtractValue",
        "UnresolvedFunction", "UnresolvedGenerator", "UnresolvedOrdinal", "UnresolvedRegex",
        "UnresolvedStar", "UnresolvedStarExceptOrReplace",
    )
)  # fmt: skip
"""Expressions that are no more than names until they are looked up."""

_EXPRESSIONS: Final = f"{_CATALYST}expressions."
"""The package of the others; the parser makes those of them that the grammar has, and a function
only by its name."""

_GROUPS: Final = frozenset({
    "agg_funcs", "array_funcs", "bitwise_funcs", "collection_funcs", "conditional_funcs",
    "conversion_funcs", "datetime_funcs", "generator_funcs", "hash_funcs", "json_funcs",
    "lambda_funcs", "map_funcs", "math_funcs", "predicate_funcs", "string_funcs", "struct_funcs",
    "url_funcs", "window_funcs",
})  # fmt: skip
"""Groups of Spark's functions that compute from their arguments alone. Those of XML, Avro and
Protobuf have options that read a file."""

_FUNCTIONS: Final = frozenset(
    {"assert_true", "monotonically_increasing_id", "raise_error", "typeof"}
)
"""Functions of the mixed group, which calls Java too."""

_TABLE_FUNCTIONS: Final = frozenset({
    "explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode",
    "posexplode_outer", "range", "stack",
})  # fmt: skip

_ASKED: Final = (
    "Expected one SELECT (also WITH, VALUES, TABLE or FROM), because sql only reads a warehouse."
)


def check_reads_only(spark: SparkSession, text: str, known: Collection[str]) -> set[str]:
    """Return the tables and views that a SELECT reads.

    Args:
        spark: the session that will run it, which has no functions of its own.
        text: what a person wrote.
        known: names of the published tables and views.

    Raises:
        UsageError: it is no SQL or no SELECT, or names another relation or a function that
            reaches out.
    """
    if "${" in text:
        # Spark would put a setting, a property or a variable of the environment in its place.
        raise UsageError("Invalid SQL: ${…} is not allowed")
    session: _OfTheJvm = getattr(spark, "_jsparkSession", None)
    if session is None:
        raise UsageError("sql needs a Spark session of this process, found one of Spark Connect")
    gateway: _OfTheJvm = spark.sparkContext._gateway
    functions = gateway.jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.expressions()
    walk = _Walk(gateway, functions, frozenset(known))
    try:
        walk.visit(_plan(session, text), frozenset())
    except RecursionError:
        raise UsageError(_TOO_DEEP) from None
    return walk.tables


def _plan(session: _OfTheJvm, text: str) -> _OfTheJvm:
    """Return the tree of a text."""
    try:
        return session.sessionState().sqlParser().parsePlan(text)
    except ParseException as error:
        # Not all of them have an SQLSTATE by which one could see whose fault it is.
        first_line = next((line for line in str(error).splitlines() if line.strip()), "")
        raise UsageError(f"Invalid SQL: {first_line[:500]}") from error
    except Py4JJavaError as error:
        if _class(error.java_exception) != "java.lang.StackOverflowError":
            raise
        raise UsageError(_TOO_DEEP) from None


_TOO_DEEP: Final = "Invalid SQL: it is nested too deeply"


@dataclass(slots=True)
class _Walk:
    """A way through a parsed statement; ``functions`` are those that come with Spark, by name."""

    gateway: _OfTheJvm
    functions: _OfTheJvm
    known: frozenset[str]
    tables: set[str] = field(default_factory=set)

    def visit(self, part: _OfTheJvm, scope: frozenset[str]) -> None:
        """Check a node, an expression, or what holds such; ``scope`` are the names of WITH."""
        if not hasattr(part, "_target_id"):  # text, a number or a truth value
            return
        if self._is(part, f"{_CATALYST}trees.TreeNode"):
            self._check(part, scope)
            if _class(part) == f"{_CATALYST}plans.logical.UnresolvedWith":
                self._visit_with(part, scope)
                return
        for inner in self._inside(part):
            self.visit(inner, scope)

    def _visit_with(self, part: _OfTheJvm, scope: frozenset[str]) -> None:
        """Check what WITH names, each seeing those before it, and then what it is for."""
        for relation in _each(part.cteRelations().iterator()):
            name = relation._1().lower()
            self.visit(relation._2(), scope | {name} if part.allowRecursion() else scope)
            scope |= {name}
        self.visit(part.child(), scope)

    def _inside(self, part: _OfTheJvm) -> Iterator[_OfTheJvm]:
        """Yield what a part is made of, whatever the field that holds it."""
        if self._is(part, "scala.collection.Iterable"):
            yield from _each(part.iterator())
        elif self._is(part, "scala.Product"):
            yield from _each(part.productIterator())

    def _check(self, part: _OfTheJvm, scope: frozenset[str]) -> None:
        """Refuse what is not known to be harmless."""
        name = _class(part)
        short = name.rpartition(".")[2].rstrip("$")
        if short in ("PosParameter", "NamedParameter"):
            raise UsageError("Expected a SELECT without parameters, found ? or :name in it")
        is_plan = self._is(part, f"{_CATALYST}plans.logical.LogicalPlan")
        if is_plan and name.rstrip("$") not in _PLANS:
            raise UsageError(f"{short} is not allowed. {_ASKED}")
        if not is_plan and not name.startswith(_EXPRESSIONS) and name not in _UNRESOLVED:
            raise UsageError(f"Invalid SQL: {short} is not allowed")
        if short == "UnresolvedRelation":
            self._check_relation(part, scope)
        elif short == "UnresolvedFunction":
            self._check_function([*_each(part.nameParts().iterator())])
        elif short == "UnresolvedGenerator":
            self._check_function([part.name().unquotedString()])
        elif short == "UnresolvedTableValuedFunction":
            names = [*_each(part.name().iterator())]
            if len(names) != 1 or names[0].lower() not in _TABLE_FUNCTIONS:
                raise UsageError(
                    f"Invalid SQL: the table function {'.'.join(names)} is not allowed"
                )

    def _check_relation(self, part: _OfTheJvm, scope: frozenset[str]) -> None:
        names = [*_each(part.multipartIdentifier().iterator())]
        name = ".".join(names)
        if len(names) != 1 or name.lower() not in self.known | scope:
            known = ", ".join(sorted(self.known))
            raise UsageError(
                f"Invalid SQL: the table or view {name} does not exist. Expected one of {known}"
            )
        if not part.options().isEmpty() or part.isStreaming():
            raise UsageError(f"Invalid SQL: expected {name} without options, and not as a stream")
        if name.lower() not in scope:
            self.tables.add(name.lower())

    def _check_function(self, names: list[str]) -> None:
        name = ".".join(names)
        if name.lower() in _FUNCTIONS:
            return
        found = self.functions.get(name.lower())
        if found.isEmpty() or found.get()._1().getGroup() not in _GROUPS:
            raise UsageError(f"Invalid SQL: the function {name} is not allowed")

    def _is(self, part: _OfTheJvm, name: str) -> bool:
        return bool(is_instance_of(self.gateway, part, name))


def _class(part: _OfTheJvm) -> str:
    return str(part.getClass().getName())


def _each(iterator: _OfTheJvm) -> Iterator[_OfTheJvm]:
    while iterator.hasNext():
        yield iterator.next()
