"""The options that say how ACLs are read."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from aclkit.cli.settings_options import (
    follows_brokers,
    own_semantics,
    semantics_of,
    settings_options,
)
from aclkit.model.semantics import KAFKA, KIP_1042


def read(*arguments):
    """Return what the options come to, what was given on its own, and what follows brokers."""
    found = []

    @click.command()
    @settings_options
    def command(**chosen):
        found.append((semantics_of(chosen), own_semantics(chosen), follows_brokers(chosen)))

    outcome = CliRunner().invoke(command, arguments)
    assert outcome.exit_code == 0, outcome.output
    return found[0]


def test_a_preset_is_as_it_was_where_nothing_is_said_of_ranges():
    assert read() == (KIP_1042, {}, True)
    assert read("--semantics", "kafka") == (KAFKA, {}, True)


@pytest.mark.parametrize(("said", "decides"), [("on", True), ("off", False)])
def test_that_ranges_decide_can_be_said(said, decides):
    found = read("--semantics", "kafka", "--cidr-hosts", said)
    assert found == (replace(KAFKA, cidr_hosts=decides), {"cidr_hosts": decides}, False)


def test_auto_gives_nothing_but_follows_the_brokers():
    assert read("--semantics", "kafka", "--cidr-hosts", "auto") == (KAFKA, {}, True)
