"""The options of materialize and run for deciding → their values, with the user's files read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aclkit.cli.settings_options import follows_brokers, reading_of
from aclkit.kafka.principals.load import CheckedBuilder
from aclkit.model.semantics import BrokerSettings
from aclkit.pipeline.explain.decided import MaterializeOptions
from aclkit.pipeline.inventory.entry import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.inventory.files import read_inventory
from aclkit.pipeline.inventory.people import attributes_built_by, entries_built_by
from aclkit.pipeline.inventory.survey import Given

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def deciding_options(
    start: Callable[[], SparkSession],
    chosen: dict[str, Any],
    broker: BrokerSettings,
    builder: CheckedBuilder | None = None,
) -> MaterializeOptions:
    """Return the values of the options for deciding; ``start``: see ``read_inventory``."""
    build = {} if builder is None else {PRINCIPALS: entries_built_by(builder)}
    entries = {
        kind: read_inventory(start, chosen[kind], kind, build.get(kind))
        for kind in (PRINCIPALS, HOSTS, RESOURCES)
        if chosen[kind]
    }
    return MaterializeOptions(
        settings=broker,
        reading=reading_of(chosen),
        auto_ranges=follows_brokers(chosen),
        given=Given(
            entries=entries,
            extend=chosen["extend"],
            attributes_of=attributes_built_by(builder) if builder else None,
        ),
        dense=chosen["dense"],
        full=chosen["full"],
        decide_with=chosen["decide_with"],
    )
