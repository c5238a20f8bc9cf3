"""A name as people read it → the name of a file that this process can have, whatever the locale."""

from __future__ import annotations

import sys


def on_disk(name: str) -> str:
    """Return a name, with an x for each letter that names of files cannot have in this locale.

    There aclkit refuses such names: ``The command line is not UTF-8``.
    """
    return "".join(letter if _is_known(letter) else "x" for letter in name)


def _is_known(letter: str) -> bool:
    try:
        letter.encode(sys.getfilesystemencoding())
    except UnicodeEncodeError:
        return False
    return True
