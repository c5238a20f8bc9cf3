"""When an item was last used: an item is unused only if a whole log shows that of each ALLOW."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from aclkit.audit.review.starting import note_on_use, use_words
from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, REDPANDA, BrokerSettings
from aclkit.questions.usage.use import Use, UseOfAcls
from aclkit.questions.usage.whole_log import DAYS, Judgeable, Missing
from aclkit.rules.names.rows import Rules
from tests.audit.review.reviews import items_of
from tests.factories import acl

END = datetime.fromisoformat("2026-11-21T10:00:00")
WHOLE = Judgeable(
    window_from=END - timedelta(days=90), window_to=END, missing=(), controllers=None, covered=1.0,
    brokers=3,
)  # fmt: skip
SHORT = replace(WHOLE, missing=(Missing(DAYS, "The log covers 2 of the 90 days.", "read more"),))
NO_LOG = replace(WHOLE, window_from=None, missing=(Missing("no-log", "No log.", "read one"),))
ACLS = [acl("t", acl_id="a"), acl("t", acl_id="b", operation="WRITE")]
COVERED = "90 days, log of all 3 brokers and of the controllers"
UNUSED = f"not used from 2026-08-23 to 2026-11-21 ({COVERED})"


def used(days_ago: float) -> Use:
    request = Request(
        principal=ACLS[0].principal, host="10.0.0.1", operation="READ", resource_type="TOPIC",
        resource_name="t",
    )  # fmt: skip
    return Use(request=request, last_at=END - timedelta(days=days_ago), broker="2")


def known(log: Judgeable, *uses: Use, new: str = "") -> UseOfAcls:
    rules = Rules(acls=tuple(ACLS), settings=BrokerSettings(), semantics=KAFKA)
    old = END - timedelta(days=100)
    added = {each.acl_id: END if each.acl_id == new else old for each in ACLS}
    return UseOfAcls(rules=rules, log=log, added_at=added, uses=uses)


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (known(NO_LOG), ""),
        (known(WHOLE), UNUSED),
        (known(WHOLE, used(1)), "last used on 2026-11-20, log 2"),
        (known(SHORT, used(1)), "last used on 2026-11-20, log 2"),
        (known(WHOLE, used(91)), UNUSED),
        (known(SHORT), "use unknown: The log covers 2 of the 90 days."),
        (
            known(SHORT, used(91)),
            "use unknown: The log covers 2 of the 90 days. Last known use: 2026-08-22.",
        ),
        (
            known(WHOLE, new="b"),
            "use unknown: It was added on 2026-11-21, so the log is too short for it.",
        ),
    ],
)
def test_an_item_is_unused_only_if_a_whole_log_shows_that_of_each_acl(use, words):
    (item,) = items_of(ACLS, BrokerSettings())
    assert use_words(item, use) == words


def test_a_review_says_what_it_knows_of_use():
    assert note_on_use(known(WHOLE)) == (
        "Use is judged by the authorizer log: 90 days, log of all 3 brokers and of the controllers."
    )
    assert note_on_use(known(NO_LOG)) == "It is unknown what is not used. No log. Next: read one"


def test_use_by_the_members_of_a_group_of_redpanda_is_unknown():
    group = acl("t", acl_id="g", principal="Group:ops")
    semantics = replace(KAFKA, authorizer=REDPANDA)
    rules = Rules(acls=(group,), settings=BrokerSettings(), semantics=semantics)
    use = UseOfAcls(rules=rules, log=WHOLE, added_at={"g": END - timedelta(days=100)})
    (item,) = items_of([group], BrokerSettings(), semantics)
    assert use_words(item, use) == ("use unknown: Group:ops has members that are not known here.")
