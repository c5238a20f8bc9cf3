"""Rejected text line → its row for ``acl_reject``, with no credential left in it.

The metadata log holds SCRAM credentials, delegation tokens and passwords of configurations, and a
line that could not be read is where they would slip through: so what is not known to be harmless
is masked, and a broken line is masked as eagerly as a whole one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.sources.rows import REJECT, SourceRow

MASK: Final = "***"
_KEPT: Final = 500
_LOOKED_AT: Final = 8_000

_ACL: Final = re.compile(r"access_?control_?entry", re.IGNORECASE)
_FOREIGN: Final = re.compile(
    r"\b(?!(?:remove_?)?access_?control)[a-z][a-z_]{3,60}record\b", re.IGNORECASE
)
_CREDENTIAL: Final = re.compile(
    r"""(?P<key>(?:stored_?key|server_?key|salt|hmac|passw(?:or)?d|passphrase|secret|token|credential
        |jaas|"value|private_?key|keystore|truststore)
        [\w.]{0,40} [\\"'\s]{0,8} [:=] \s{0,8} \\{0,8})
        (?: "(?:[^"\\]|\\.)*(?:"|\\?$) | '[^']*(?:'|$) | [^,}]+ )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|\\?$)', re.DOTALL)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_-]{16,}")
_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/]{32,}={0,2}")
_STRUCTURE: Final = re.compile(r"type|version|data|offset|timestamp|(?:[A-Z]{1,20}_){1,6}RECORD")
_WORDS: Final = {"partitionLeaderEpoch", "lastContainedLogTimestamp"}


def mask_text(line: str) -> str:
    """Return what of a rejected text line may be kept.

    The value after any credential key is masked. Of a line that does not clearly speak of ACL
    records alone, every quoted text but structural words is masked too, and every long run of
    base64 or hex letters. At most 500 characters are kept.

    >>> mask_text('{"type":"CONFIG_RECORD","data":{"name":"x","value":"hunter2"}}')
    '{"type":"CONFIG_RECORD","data":{"***":"***","***":"***"}}'
    """
    text = line[:_LOOKED_AT].encode(errors="replace").decode()
    is_acl = names_acl(text) and not _FOREIGN.search(text)
    text = _CREDENTIAL.sub(rf'\g<key>"{MASK}"', text)
    if is_acl:
        text = _LONG_RUN.sub(MASK, text)
    else:
        text = _RUN.sub(_mask_run, _QUOTED.sub(_mask_quoted, text))
    return text[:_KEPT]


def digest(text: str) -> str:
    """Return the sha-256 of a text in hex, so that the same bad row is known again."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def names_acl(text: str) -> bool:
    """Say whether a text names an ACL record, in either of Kafka's spellings."""
    return _ACL.search(text) is not None


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield each line with its 1-based number, without its end and a byte order mark."""
    for number, line in enumerate(lines, start=1):
        text = line.removesuffix("\n").removesuffix("\r")
        yield number, text.removeprefix("\ufeff") if number == 1 else text


def reject_line(
    line: str, *, source: str, position: int, reason: str, log_offset: int | None = None
) -> SourceRow:
    """Make the reject of a text line."""
    return SourceRow(
        kind=REJECT,
        source=source,
        position=position,
        reason=reason,
        log_offset=log_offset,
        raw=mask_text(line),
        digest=digest(line),
    )


def _mask_quoted(match: re.Match[str]) -> str:
    return match[0] if _STRUCTURE.fullmatch(match[1]) else f'"{MASK}"'


def _mask_run(match: re.Match[str]) -> str:
    run = match[0]
    return run if run in _WORDS or _STRUCTURE.fullmatch(run) else MASK
