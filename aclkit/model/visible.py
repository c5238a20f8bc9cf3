"""Texts that strangers wrote → what a person may be shown of them. Pure.

Code that writes to a terminal, a page or a script makes a text visible once, at the edge. A second
pass would escape the escapes.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Final

_ESCAPE: Final = "\\u{"
_COMMAND: Final = (
    r"(?<!\S)::(?=[A-Za-z-]{0,40}[G-Zg-z-])"  # a number of IPv6 such as ::face is none
    r"|##(?=(?:vso|teamcity)?\[)"
)
"""How a command to a CI system begins in a job's log: ``::stop-commands::``, ``##[group]``."""

_PARTS: Final = re.compile(rf"\\u\{{|[^ -~]|{_COMMAND}")
_HIDDEN_IN_JSON: Final = re.compile(r"[^\0-~]")
_COMMAND_IN_JSON: Final = re.compile(_COMMAND)
_ESCAPED: Final = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
_BLANK: Final = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800),
            *(0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
        ),
    )
)
"""Letters and marks that show nothing or alter what stands before them, and that Unicode counts
as printable: fillers, joiners, selectors of variants (Default_Ignorable_Code_Point), and the empty
Braille pattern."""


def is_visible(letter: str) -> bool:
    """Whether a letter shows itself and acts on nothing.

    Control characters, line and paragraph separators, marks that turn the direction of writing,
    spaces of other widths, what has no width, and half surrogates do not.
    """
    return letter.isprintable() and letter not in _BLANK


def visible(text: str) -> str:
    r"""Write a text so that it shows what is in it and acts on nothing; the result is one line.

    What is not visible becomes ``\u{HEX}``. So does the first letter of a command to a CI system,
    and a backslash that stands before ``u{``: two texts that differ never come out alike.

    >>> print(visible("a\nb"), visible(r"CORP\bob"), visible(r"\u{a}"))
    a\u{a}b CORP\bob \u{5c}u{a}
    """
    return _PARTS.sub(_escaped, text)


def visible_json(text: str) -> str:
    r"""Write a text of JSON so that it acts on nothing where it is shown; its value is the same.

    What is not visible becomes an escape of JSON, and so does the first letter of a command to a CI
    system. Control characters of ASCII but for DEL are left: JSON has them between values only.

    >>> print(visible_json('{"é": "\u202e##[error]"}'))
    {"é": "\u202e\u0023#[error]"}
    """
    if not text.isascii() or "\x7f" in text:
        text = _HIDDEN_IN_JSON.sub(_escaped_in_json, text)
    return _COMMAND_IN_JSON.sub(_command_in_json, text) if "##" in text else text


def exact(text: str) -> str:
    r"""Return the text that was made visible; what no letter has as its number stays as it is.

    >>> exact(visible("a\nb")) == "a\nb", exact(r"CORP\bob")
    (True, 'CORP\\bob')
    """
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    return chr(number) if number <= sys.maxunicode else found[0]


def _escaped(found: re.Match[str]) -> str:
    part = found[0]
    if len(part) > 1:  # its first letter acts
        return f"{_ESCAPE}{ord(part[0]):x}}}{part[1:]}"
    return part if is_visible(part) else f"{_ESCAPE}{ord(part):x}}}"


def _escaped_in_json(found: re.Match[str]) -> str:
    letter = found[0]
    return letter if is_visible(letter) else json.dumps(letter)[1:-1].replace("\x7f", "\\u007f")


def _command_in_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0][0]):04x}{found[0][1:]}"
