"""Numbers in columns: lists laid end to end, runs of equal keys, and fingerprints of sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from aclkit.pipeline.explain import arrays
from aclkit.pipeline.explain.arrays import (
    Fingerprints,
    Lists,
    concat_fingerprints,
    first_places,
    inverse_of,
    order_of,
    packed,
    runs_of,
)


def numbers(*values):
    return np.array(values, np.int64)


def plain(*columns):
    return tuple(column.tolist() for column in columns)


def fingerprints(*pairs):
    return Fingerprints(numbers(*(h for h, _ in pairs)), numbers(*(low for _, low in pairs)))


def bits_of(found):
    return [*zip(found.high.tolist(), found.low.tolist(), strict=True)]


def test_lists_of_owners_have_a_start_and_a_count_each_and_some_are_empty():
    lists = Lists.of(numbers(1, 1, 3), 5)
    assert plain(lists.starts, lists.counts) == ([0, 0, 2, 2, 3], [0, 2, 0, 1, 0])
    assert lists.owners().tolist() == [1, 1, 3]


def test_the_elements_of_lists_come_in_the_order_asked_for_and_as_often():
    lists = Lists.of(numbers(0, 2, 2), 3)
    assert plain(*lists.elements(numbers(2, 1, 0, 2))) == ([0, 0, 2, 3, 3], [1, 2, 0, 1, 2])


def test_no_lists_and_lists_of_nothing_have_no_elements():
    nothing = numbers()
    assert plain(*Lists.of(nothing, 2).elements(numbers(1, 0))) == ([], [])
    assert plain(*Lists.of(nothing, 0).elements(nothing)) == ([], [])


def test_a_run_ends_where_any_of_its_keys_changes():
    assert first_places(numbers(1, 1, 1, 2), numbers(7, 7, 8, 8)).tolist() == [0, 2, 3]
    assert first_places(numbers(5)).tolist() == [0]
    assert first_places(numbers()).tolist() == []


def test_runs_of_equal_keys_have_a_first_place_a_length_and_a_number():
    assert plain(*runs_of(numbers(4, 4, 9))) == ([0, 2], [2, 1], [0, 0, 1])
    assert plain(*runs_of(numbers())) == ([], [], [])


def test_columns_are_packed_into_one_while_62_bits_hold_them():
    wide = numbers(0, 2**60)
    assert plain(*packed([numbers(1, 0), numbers(2, 3), numbers(0, 1)])) == ([12, 7],)
    assert plain(*packed([numbers(1, 0), wide])) == ([2**61, 2**60],)
    assert plain(*packed([numbers(2, 0), wide])) == ([2, 0], [0, 2**60])


@pytest.mark.parametrize("width", [1, 2**40], ids=["packed", "apart"])
def test_rows_are_sorted_by_the_first_column_first_and_equal_rows_stay_as_they_lie(width):
    columns = [numbers(1, 0, 1, 0, 1) * width, numbers(5, 7, 2, 7, 5) * width]
    assert order_of(columns).tolist() == [1, 3, 2, 0, 4]


def test_the_inverse_of_an_order_is_the_place_of_each_row():
    assert inverse_of(numbers(2, 0, 1)).tolist() == [1, 2, 0]


def test_equal_sets_have_equal_fingerprints_whatever_the_order_of_their_elements():
    drawn = Fingerprints.draw(4)
    sets = drawn.take(numbers(0, 2, 3, 3, 0, 2)).of_runs(numbers(0, 3))
    assert bits_of(sets)[0] == bits_of(sets)[1]


def test_different_sets_have_different_fingerprints_and_the_empty_one_has_none_of_theirs():
    drawn = Fingerprints.draw(6)
    every = [numbers(*which) for size in range(1, 7) for which in combinations(range(6), size)]
    starts = np.cumsum([0, *map(len, every[:-1])])
    sets = drawn.take(np.concatenate(every)).of_runs(starts)
    assert len({*bits_of(sets), *bits_of(Fingerprints.none(1))}) == 2**6


def test_fingerprints_are_drawn_from_the_system_128_bits_each(monkeypatch):
    asked = []

    def token_bytes(size):
        asked.append(size)
        return bytes(range(size))

    monkeypatch.setattr(arrays.secrets, "token_bytes", token_bytes)
    found = Fingerprints.draw(2)
    assert asked == [2 * 16]
    words = [int.from_bytes(bytes(range(at, at + 8)), "little") for at in (0, 8, 16, 24)]
    assert bits_of(found) == [(words[0], words[2]), (words[1], words[3])]


def test_each_decision_draws_other_fingerprints():
    assert bits_of(Fingerprints.draw(1)) != bits_of(Fingerprints.draw(1))
    assert len(Fingerprints.draw(0)) == 0


def test_the_fingerprint_of_a_union_is_the_exclusive_or_of_both():
    one, other = fingerprints((0b110, 1), (2, 2)), fingerprints((0b011, 1), (0, 4))
    assert bits_of(one.joined(other)) == [(0b101, 0), (2, 6)]
    assert bits_of(one.joined_at(numbers(1), fingerprints((1, 1)))) == [(0b110, 1), (3, 3)]
    assert bits_of(one) == [(0b110, 1), (2, 2)]


def test_sets_without_elements_have_zeros_and_no_sets_have_none():
    assert bits_of(Fingerprints.none(2)) == [(0, 0), (0, 0)]
    assert bits_of(Fingerprints.draw(0).of_runs(numbers())) == []


def test_equal_fingerprints_have_one_number_and_each_number_a_place_that_has_it():
    found = fingerprints((9, 1), (-3, 5), (9, 1), (4, 4))
    number, first = found.numbered()
    assert plain(number, first) == ([2, 0, 2, 1], [1, 3, 0])


def test_fingerprints_that_agree_in_their_high_half_are_told_apart_by_the_low_one():
    found = fingerprints((9, 2), (9, 1), (9, 2), (7, 1), (9, 1))
    number, first = found.numbered()
    assert plain(number, first) == ([2, 1, 2, 0, 1], [3, 1, 0])


def test_no_fingerprints_have_no_numbers():
    assert plain(*Fingerprints.none(0).numbered()) == ([], [])


def test_fingerprints_are_laid_end_to_end():
    found = concat_fingerprints([fingerprints((1, 2)), Fingerprints.none(1), fingerprints((3, 4))])
    assert bits_of(found) == [(1, 2), (0, 0), (3, 4)]
