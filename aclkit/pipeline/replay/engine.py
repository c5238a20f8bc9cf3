"""What a replay asks of an engine: rows of its tables, and transforms of them. The rules ask."""

from __future__ import annotations

from aclkit.pipeline.replay.asking import Frame
from aclkit.pipeline.replay.fact_rules import FactRules
from aclkit.pipeline.replay.history_rules import HistoryRules
from aclkit.pipeline.replay.reject_rules import RejectRules


class Engine(FactRules[Frame], RejectRules[Frame], HistoryRules[Frame]):
    """Transforms of the rows of one cluster."""
