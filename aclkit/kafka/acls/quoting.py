"""Texts that strangers wrote → strings and comments of YAML and HCL, words of a shell. Pure."""

from __future__ import annotations

import shlex
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.visible import is_visible

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN_IN_PRINTF: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._:,=/@*?#<>()[]{}|&;~+^"
)
"""Not the dash, with which an option of printf begins, nor what a shell reads in quotes."""


def quote(text: str) -> str:
    r"""Write a text as a string of YAML, and of HCL where it holds no template.

    What is not visible is an escape that both know, so nothing can end the string or its line.

    >>> print(quote('a"b\x00'))
    "a\"b\u0000"
    """
    return '"' + "".join(_ESCAPES.get(letter) or _plain(letter) for letter in text) + '"'


def quote_hcl(text: str) -> str:
    """Write a text as a string of HCL: ``${`` and ``%{`` would begin a template there.

    >>> quote_hcl("${a}%{b}$c")
    '"$${a}%%{b}$c"'
    """
    return quote(text).replace("${", "$${").replace("%{", "%%{")


def shell_word(text: str) -> str:
    r"""Write a text as one word of a POSIX shell, to be run or pasted.

    What acts on a terminal would act there when the word is shown or pasted: Ctrl-U takes the line
    away and what follows is a command of its own. So a text that is not visible is written as what
    printf makes of it. A command substitution drops line ends at its end: those follow it.

    >>> print(shell_word("it's"), shell_word("a\x15\u00fc"))
    'it'"'"'s' "$(printf 'a\025\303\274')"
    """
    if all(map(is_visible, text)):
        return shlex.quote(text)
    kept = text.rstrip("\n")
    ends = f"'{text[len(kept) :]}'" if kept != text else ""
    return (f"\"$(printf '{_octal(kept)}')\"" if kept else "") + ends


def shell_words(words: list[str]) -> str:
    """Write a command of words."""
    return " ".join(map(shell_word, words))


def comment(tool: str, acl: Acl) -> str:
    """Write a comment that a tool cannot express an ACL; no name in it can end the line."""
    return f"# {tool} cannot write {quote(str(acl))}"


def _octal(text: str) -> str:
    return "".join(
        chr(byte) if chr(byte) in _PLAIN_IN_PRINTF else f"\\{byte:03o}" for byte in text.encode()
    )


def _plain(letter: str) -> str:
    if is_visible(letter):
        return letter
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
