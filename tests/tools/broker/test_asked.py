"""What ``make broker-test`` asks is all there is to ask; the broker itself is not started here."""

from __future__ import annotations

from aclkit.rules.decide.handlers import REQUESTS
from tests.tools.broker.asked import ASKED
from tests.tools.broker.filters import COMBINATIONS
from tests.tools.broker.strange import strange_acls

NOT_SENT = {"ShareAcknowledge"}  # needs an open session of a share group


def test_every_request_of_the_table_is_sent_to_a_broker():
    assert {asked.title for asked in ASKED} == {request.title for request in REQUESTS} - NOT_SENT


def test_62_different_combinations_of_words_are_compared():
    assert len(set(COMBINATIONS)) == len(COMBINATIONS) == 62


def test_strange_acls_are_the_same_for_a_seed_and_no_two_of_them_are_equal():
    acls = strange_acls(1500, seed=1)
    assert acls == strange_acls(1500, seed=1)
    assert len({acl.binding for acl in acls}) == 1500
