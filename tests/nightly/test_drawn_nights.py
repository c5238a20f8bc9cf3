"""A few nights by chance; ``python -m tests.nightly.drawn_nights`` draws hundreds."""

from __future__ import annotations

import pytest

from tests.nightly.drawn_nights import Nights

pytestmark = [pytest.mark.usefixtures("spark"), pytest.mark.timeout(1_200)]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_night_is_what_the_rule_and_the_night_before_say(tmp_path, seed):
    nights = Nights(tmp_path, seed)
    for _ in range(5):
        nights.night()
    assert all(cluster.cells for cluster in nights.clusters)
