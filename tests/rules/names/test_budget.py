"""Which part of a budget ended, and the option that gives more of it."""

from __future__ import annotations

import pytest

from aclkit.model.semantics import KIP_1042
from aclkit.rules.names.cover import covers
from aclkit.rules.names.domain import TOPICS
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Symbols, of_pattern

NARROW, WIDE = (of_pattern("TOPIC", "GLOB", f"*{n}*a????????", KIP_1042) for n in ("b", ""))


def ask(budget: Budget, wide: tuple[Symbols, ...] = WIDE) -> bool | None:
    return covers(wide, NARROW, TOPICS, budget)


@pytest.mark.parametrize(
    ("budget", "option"),
    [
        (Budget(per_question=60), "--budget"),
        (Budget(total=60), "--budget-total"),
        (Budget(per_question=60, total=90), "--budget"),
    ],
)
def test_what_ended_a_question_is_what_to_raise(budget: Budget, option: str) -> None:
    assert ask(budget) is None
    assert budget.to_raise == option


def test_what_is_left_for_all_counts_only_where_it_ends_a_question() -> None:
    budget = Budget(per_question=60, total=90)
    assert ask(budget) is None
    assert covers([("a",)], [("b",)], TOPICS, budget) is False
    assert budget.to_raise == "--budget"
    assert ask(budget) is None
    assert budget.to_raise == "--budget-total"
