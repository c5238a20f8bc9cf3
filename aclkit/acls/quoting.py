"""Texts that strangers wrote → strings and comments of YAML and HCL. Pure."""

from __future__ import annotations

from typing import Final

from aclkit.model.acl import Acl

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text: str) -> str:
    r"""Write a text as a string of YAML, and of HCL where it holds no template.

    What is not printable is an escape that both know, so nothing can end the string or its line.

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


def comment(tool: str, acl: Acl) -> str:
    """Write a comment that a tool cannot say an ACL; no name in it can end the line."""
    return f"# {tool} cannot say {quote(str(acl))}"


def _plain(letter: str) -> str:
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
