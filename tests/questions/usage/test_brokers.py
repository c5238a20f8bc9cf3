"""Whose log a file is: only where a name or a path makes it sure."""

from __future__ import annotations

import pytest

from aclkit.questions.usage.read_use import name_brokers, split_name


def named(*paths: str, **given: str) -> dict[str, str]:
    sources = dict(zip("abcdef", paths, strict=False))
    return name_brokers(sources, given, {1, 2, 3})


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/logs/broker-1/kafka-authorizer.log", "1"),
        ("/logs/my-cluster-kafka-2/kafka-authorizer.log.2026-11-28-10", "2"),
        ("C:\\logs\\node3\\kafka-authorizer.log", "3"),
        ("broker-1.log", "1"),
        ("broker_02.log.gz", "2"),
        ("/logs/broker-7/kafka-authorizer.log", None),
        ("/logs/kafka-1.log", None),
        ("/logs/kafka-authorizer.log.1", None),
        ("/logs/broker-1/copy-of-node-2/x.log", None),
        ("/logs/mybroker1x/x.log", None),
        ("part-1.log", None),
    ],
)
def test_a_path_names_a_broker_by_a_word_and_a_registered_number(path, name):
    assert named(path).get("a") == name


def test_the_number_of_a_rotated_file_is_no_broker():
    assert named("/x/broker.log", "/x/broker-1.log", "/x/broker-2.log") == {}


def test_a_given_name_counts_more_than_the_path_and_is_a_number_where_it_has_one():
    assert named("/logs/broker-1/x.log", "y.log", "z.log", a="broker-2", b="3", c="left") == {
        "a": "2", "b": "3", "c": "left",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["/logs/a=b", "logs/x=y/z.log", "x.log", "=x", "a="])
def test_a_path_may_have_an_equals_sign(text):
    assert split_name(text) == (None, text)
