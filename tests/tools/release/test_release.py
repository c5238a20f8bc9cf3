"""What a release says of itself: its notes, and the licences of what it needs."""

from __future__ import annotations

import pytest

from tests.tools.release.licences import UNKNOWN, licence_table, licences_of
from tests.tools.release.notes import NoNotesError, notes_of

LOG = """# Changelog

Words.

## Unreleased
{waiting}
## 0.3.0 (2026-11-27)

### Added

- A thing.

## 0.2.0 (2026-11-23)

- Another.
"""


def test_the_notes_are_what_stands_under_the_number():
    assert notes_of(LOG.format(waiting=""), "0.3.0") == "### Added\n\n- A thing.\n"
    assert notes_of(LOG.format(waiting=""), "0.2.0") == "- Another.\n"


@pytest.mark.parametrize(
    ("version", "waiting", "says"),
    [
        ("0.4.0", "", "expected a heading '## 0.4.0"),
        ("0.3", "", "expected a heading '## 0.3 "),
        ("0.3.0", "\n- Later.\n", "what stands under Unreleased is not in 0.3.0"),
    ],
)
def test_a_release_without_notes_of_its_own_is_refused(version, waiting, says):
    with pytest.raises(NoNotesError, match=says):
        notes_of(LOG.format(waiting=waiting), version)


def test_a_heading_with_nothing_below_it_is_refused():
    with pytest.raises(NoNotesError, match="nothing stands under"):
        notes_of("# Changelog\n\n## 0.3.0 (2026-11-27)\n\n## 0.2.0 (2026-11-23)\n", "0.3.0")


def test_the_licence_of_a_package_is_what_it_states_best():
    bill = {
        "components": [
            {"name": "b", "version": "2", "licenses": [{"license": {"id": "MIT"}}]},
            {"name": "A", "version": "1", "licenses": [{"expression": "MIT OR Apache-2.0"}]},
            {"name": "c", "licenses": [{"license": {"name": "declared license file: LICENSE"}}]},
            {
                "name": "d",
                "version": "4",
                "licenses": [
                    {"license": {"name": "License :: OSI Approved :: BSD License"}},
                    {"license": {"name": "BSD\n\nCopyright"}},
                ],
            },
            {
                "name": "e",
                "version": "5",
                "licenses": [{"license": {"name": "License :: OSI Approved :: BSD License"}}],
            },
        ]
    }
    assert licences_of(bill) == [
        ("A", "1", "MIT OR Apache-2.0"),
        ("b", "2", "MIT"),
        ("c", "", UNKNOWN),
        ("d", "4", "BSD"),
        ("e", "5", "BSD License"),
    ]


def test_a_licence_cannot_break_the_table():
    rows = licences_of({"components": [{"name": "a", "licenses": [{"expression": "MIT | X"}]}]})
    assert licence_table(rows).splitlines()[-1] == "| a |  | MIT / X |"
