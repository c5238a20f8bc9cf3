"""The chain of decisions, and evidence in which every byte is checked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.audit.review.decisions import (
    CHOICES,
    BrokenChainError,
    Wanted,
    canonical,
    check_chain,
    extend,
    in_force,
    pretty,
    read_decision,
)
from aclkit.audit.review.document import read_review
from aclkit.audit.review.evidence import check_evidence
from tests.audit.review.reviews import AT, decided, evidence_of, review_of
from tests.strategies import acl_sets

REVIEW = review_of()
EVIDENCE = evidence_of(REVIEW, decided(REVIEW))
TEXT = EVIDENCE.text.encode()


def test_a_review_is_read_back_as_it_was():
    said = json.loads(pretty(REVIEW.said))
    assert read_review(said).said == REVIEW.said
    assert read_review(said).seal == REVIEW.seal


def test_evidence_is_read_back_as_it_was():
    assert check_evidence(TEXT) == EVIDENCE


@given(st.integers(0, len(TEXT) - 1), st.integers(1, 255))
def test_one_changed_byte_anywhere_is_refused(place, mask):
    changed = bytearray(TEXT)
    changed[place] ^= mask
    with pytest.raises(BrokenChainError):
        check_evidence(bytes(changed))


@given(st.integers(0, len(TEXT) - 1))
def test_evidence_that_is_cut_is_refused(place):
    with pytest.raises(BrokenChainError):
        check_evidence(TEXT[:place])


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda doc: doc["decisions"].pop(1), "Decision 2 does not follow decision 1"),
        (lambda doc: doc["decisions"].reverse(), "Decision 1 does not follow the review"),
        (lambda doc: doc["decisions"][0].update(reason="x"), "Decision 1 was changed"),
        (lambda doc: doc["decisions"].pop(), "The closing does not follow the last decision"),
        (lambda doc: doc["review"].update(started_by="eve"), "Decision 1 does not follow"),
        (lambda doc: doc["review"]["items"].pop(), "The review was changed"),
        (lambda doc: doc["review"]["items"][0].update(host="h"), "The review was changed"),
        (lambda doc: doc["closing"].update(by="eve"), "The hash at the end"),
        (lambda doc: doc["closing"].update(kept=True), "A field of the closing"),
        (lambda doc: doc.update(more=1), "Expected an object with"),
    ],
)
def test_what_was_changed_is_said(change, where):
    doc = json.loads(TEXT)
    change(doc)
    with pytest.raises(BrokenChainError, match=where):
        check_evidence(pretty(doc).encode())


def test_the_same_content_in_another_layout_is_refused_with_its_line():
    doc = json.loads(TEXT)
    with pytest.raises(BrokenChainError, match="Line 1 is not as it was written"):
        check_evidence(canonical(doc).encode())


wanted = st.builds(
    Wanted,
    st.sampled_from([item.item_id for item in REVIEW.items]),
    st.sampled_from(CHOICES),
    st.text(min_size=1, max_size=5),
    st.just("bob"),
)


@given(st.lists(wanted, max_size=6), st.integers(0, 6))
def test_a_chain_goes_on_wherever_it_was_left(some, cut):
    first = list(extend(REVIEW.seal, 0, some[:cut], AT, "csv"))
    previous, number = (first[-1].hash, first[-1].number) if first else (REVIEW.seal, 0)
    chain = [*first, *extend(previous, number, some[cut:], AT, "csv")]
    assert chain == list(extend(REVIEW.seal, 0, some, AT, "csv"))
    check_chain(REVIEW.seal, chain, REVIEW.by_id)
    assert [read_decision(each.said(), "x") for each in chain] == chain


@given(st.lists(wanted, min_size=2, max_size=6, unique_by=lambda each: each.item), st.data())
def test_no_entry_can_be_left_out_or_moved(some, data):
    chain = list(extend(REVIEW.seal, 0, some, AT, "csv"))
    place = data.draw(st.integers(0, len(chain) - 2))
    without = chain[:place] + chain[place + 1 :]
    moved = [*without[: place + 1], chain[place], *without[place + 1 :]]
    for broken in (without, moved):
        with pytest.raises(BrokenChainError):
            check_chain(REVIEW.seal, broken, REVIEW.by_id)


def test_an_entry_on_an_item_that_the_review_does_not_have_breaks_the_chain():
    strange = list(extend(REVIEW.seal, 0, [Wanted("0" * 16, "keep", "x", "bob")], AT, "csv"))
    with pytest.raises(BrokenChainError, match="unknown item"):
        check_chain(REVIEW.seal, strange, REVIEW.by_id)


def test_the_last_decision_on_an_item_counts():
    item = REVIEW.items[0].item_id
    both = [Wanted(item, "keep", "x", "bob"), Wanted(item, "remove", "y", "ana")]
    assert in_force(extend(REVIEW.seal, 0, both, AT, "csv"))[item].decision == "remove"


def test_the_digest_is_of_the_decisions_alone_and_the_seal_of_all():
    other = replace(REVIEW, started_by="eve")
    assert (other.digest == REVIEW.digest, other.seal == REVIEW.seal) == (True, False)


@given(acl_sets(6), st.text(max_size=8))
def test_whatever_names_and_reasons_hold_comes_back_as_it_was(acls, reason):
    review = review_of(acls)
    evidence = evidence_of(review, decided(review, reason=reason or "x"))
    assert check_evidence(evidence.text.encode()) == evidence
