"""Settings under which ACLs are read."""

from __future__ import annotations

from dataclasses import replace

from aclkit.model.semantics import KAFKA, PRESETS


def test_in_no_preset_do_ranges_decide():
    assert not any(preset.cidr_hosts for preset in PRESETS.values())


def test_settings_are_said_as_of_old_where_ranges_do_not_decide():
    assert list(KAFKA.said()) == [
        "glob_patterns",
        "identity_globs",
        "deciding_acl",
        "wildcard_defect",
    ]
    assert replace(KAFKA, cidr_hosts=True).said() == {**KAFKA.said(), "cidr_hosts": True}
