"""How much may be spent on exact answers, counted in states and never in seconds. Pure.

The same input so gets the same answer on every machine and under any load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aclkit.rules.names.domain import Domain
from aclkit.rules.names.question import Found, Question
from aclkit.rules.names.symbols import Symbols
from aclkit.rules.names.target import Target

STATES_OF_A_QUESTION: Final = 50_000
STATES_OF_A_COMMAND: Final = 5_000_000


@dataclass(slots=True)
class Budget:
    """What is left, and what was asked so far.

    Attributes:
        per_question: states that one question may take.
        total: states that all questions may take together.
        questions: how many were asked.
        states: how many states they took.
        ended: how many of them it ended before all was known.
        is_spent: what is for all of them together ended one.
    """

    per_question: int = STATES_OF_A_QUESTION
    total: int = STATES_OF_A_COMMAND
    questions: int = 0
    states: int = 0
    ended: int = 0
    is_spent: bool = False

    @property
    def to_raise(self) -> str:
        """The option of a command with which it would know more."""
        return "--budget-total" if self.is_spent else "--budget"

    def find(
        self, groups: Sequence[Iterable[Symbols]], domain: Domain, aim: Target, *, weight: int = 1
    ) -> Found:
        """Ask a question with what is left; each of its states counts as so many."""
        left = min(self.per_question, self.total - self.states)
        found = Question(groups, domain).find(aim, max(left, 0) // weight)
        self.questions += 1
        self.states += found.states * weight
        self.ended += not found.is_complete
        self.is_spent |= not found.is_complete and left < self.per_question
        return found
