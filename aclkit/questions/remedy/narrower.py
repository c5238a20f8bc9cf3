"""Narrower sets of ACLs, found from what was used → advice, one for each ACL that goes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.findings import fingerprint_of
from aclkit.questions.narrow.narrowing import NARROWED, STAYS
from aclkit.questions.narrow.proof import Proven
from aclkit.questions.remedy.proposal import NARROW, Proposal

_UNUSED: Final = "No client used it."
_PARTLY: Final = "Clients used only what the new ACLs grant."


def narrower(proven: Iterable[Proven]) -> Iterator[Proposal]:
    """Yield what narrower sets remove, each ACL with those that come in its place.

    A set whose loss is not known is left out.
    """
    for each in proven:
        for judged in each.narrowed.judged if each.is_known else ():
            if judged.fate != STAYS:
                subject = str(judged.acl)
                yield Proposal(
                    step_id=fingerprint_of(NARROW, subject),
                    kind=NARROW,
                    severity="info",
                    subject=subject,
                    reason=_PARTLY if judged.fate == NARROWED else _UNUSED,
                    remove=(judged.acl,),
                    add=judged.by,
                    revokes=True,
                )
