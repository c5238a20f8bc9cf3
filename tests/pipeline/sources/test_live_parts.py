"""Answers of brokers to a listing, without brokers: whatever is missing, the parts add up."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.unread import (
    FAILED,
    GROUPS,
    NOT_OFFERED,
    RIGHT,
    SETTINGS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
)
from aclkit.pipeline.sources.live_parts import NoAnswer, NodeAnswers, Parts, tell_parts
from tests.pipeline.sources import fake_broker as fake

LISTED = (TOPICS, USERS, GROUPS, TRANSACTIONAL_IDS, TOKENS)
MADE = {
    USERS: lambda error: fake.scram_users("a", error=error),
    TOKENS: lambda error: fake.tokens("b", error=error),
    GROUPS: lambda error: fake.groups("g", error=error),
    TRANSACTIONAL_IDS: lambda error: fake.transactions("t", error=error),
    TOPICS: lambda error: fake.log_dirs("x", error=error),
    SETTINGS: lambda error: fake.configs(error=error, authorizer_class_name="A"),
}
ERRORS = {0: None, 31: RIGHT, 29: RIGHT, 53: RIGHT, 35: NOT_OFFERED, 42: NOT_OFFERED, -1: FAILED}
TOKENS_DISABLED = 61
answers = st.one_of(
    st.sampled_from(sorted(ERRORS)),
    st.builds(NoAnswer, st.sampled_from([NOT_OFFERED, FAILED]), st.just("why")),
)


def cause_of(answer):
    return answer.cause if isinstance(answer, NoAnswer) else ERRORS[answer]


def message(part, answer):
    return answer if isinstance(answer, NoAnswer) else MADE[part](answer)


def parts_of(drawn):
    """One broker with an answer for each part."""
    node = NodeAnswers(
        node_id=1,
        address="b:1",
        versions=NoAnswer(FAILED, "why"),
        configs=message(SETTINGS, drawn[SETTINGS]),
        groups=message(GROUPS, drawn[GROUPS]),
        transactions=message(TRANSACTIONAL_IDS, drawn[TRANSACTIONAL_IDS]),
        log_dirs=message(TOPICS, drawn[TOPICS]),
    )
    return Parts(
        metadata=SimpleNamespace(topics=[]),
        users=message(USERS, drawn[USERS]),
        tokens=message(TOKENS, drawn[TOKENS]),
        nodes=[node],
    )


@given(st.fixed_dictionaries(dict.fromkeys(MADE, answers)))
def test_each_part_is_read_whole_or_named_once_with_its_cause(drawn):
    listing = tell_parts(parts_of(drawn), "live:b:1", "User:me")
    expected = {part: cause for part, each in drawn.items() if (cause := cause_of(each))}
    assert {each.part: each.cause for each in listing.unread} == expected
    assert listing.told == set(LISTED) - expected.keys()
    for part, cause in expected.items():
        (note,) = (note for note in listing.notes if note.startswith(f"{part}: not read ("))
        assert ("Missing right" in note) == (cause == RIGHT)
    named = {row.resource_type or row.principal for row in listing.rows if row.broker_id is None}
    assert ("GROUP" in named) == (GROUPS not in expected)


@given(st.lists(st.sampled_from([0, 31]), min_size=1, max_size=4))
def test_of_several_brokers_a_part_is_whole_where_none_refuses(errors):
    nodes = [
        NodeAnswers(node_id=n, address=f"b:{n}", groups=fake.groups(f"g{n}", error=error))
        for n, error in enumerate(errors, 1)
    ]
    listing = tell_parts(Parts(metadata=SimpleNamespace(topics=[]), nodes=nodes), "live:b:1")
    found = [each for each in listing.unread if each.part == GROUPS]
    assert bool(found) == any(errors)
    assert all(each.has_some == (0 in errors) for each in found)
    groups = {row.resource_name for row in listing.rows if row.resource_type == "GROUP"}
    assert groups == {f"g{n}" for n, error in enumerate(errors, 1) if not error}
