"""Rejected text line → its row for ``acl_reject``, with no credential left in it.

The metadata log holds SCRAM credentials, delegation tokens and passwords of configurations, and a
line that could not be read is where they would slip through. In such a line no quote, no key and
no end can be relied upon: it may be cut anywhere. So nothing is looked for that has to be hidden;
what is known to be harmless is kept, and all else is masked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.facts import REJECT, SourceRow

MASK: Final = "***"
_KEPT: Final = 500
_LOOKED_AT: Final = 8_000

_ACL: Final = re.compile(r"access_?control_?entry", re.IGNORECASE)
_REQUEST: Final = re.compile(r"\bprincipal\s{0,4}=", re.IGNORECASE)
_FOREIGN: Final = re.compile(
    r"\b(?!(?:remove_?)?access_?control)[a-z][a-z_]{3,60}record\b", re.IGNORECASE
)
_WORDS: Final = (
    "stored_?key|server_?key|salt|hmac|passw(?:or)?d|passphrase|pwd|secret|token|credential|jaas"
    "|api_?key|access_?key|private_?key|keystore|truststore|auth"
)
_WORD: Final = re.compile(_WORDS, re.IGNORECASE)
_CREDENTIAL: Final = re.compile(
    rf"""(?:{_WORDS}|"value)
        [\w.-]{{0,40}} [\\"'\s]{{0,8}} [:=]""",
    re.IGNORECASE | re.VERBOSE,
)
"""A key of a credential: nothing after it is kept, wherever the credential may end."""

_NUMBERS: Final = (
    "offset|baseOffset|lastOffset|count|baseSequence|lastSequence|producerId|producerEpoch|position"
    "|partitionLeaderEpoch|timestamp|CreateTime|LogAppendTime|size|keySize|valueSize|magic|crc"
    "|sequence|version|resourceType|patternType|operation|permissionType|resourceRefCount"
    "|lastContainedLogTimestamp"
)
_TOKENS: Final = re.compile(
    rf"""(?P<number>["']?\b(?:{_NUMBERS})["']?\s{{0,4}}[:=]\s{{0,4}}-?[0-9]{{1,19}}\b)
    |(?P<time>\b[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ](?:[0-9]{{2}}:){{2}}[0-9]{{2}}\b)
    |(?P<key>["']?\b(?P<name>[Pp]rincipal|host|resourceName|resource|name|id)["']?\s{{0,4}}[:=]\s{{0,4}})
     (?P<value>"[^"\\]*" | '[^'\\]*' | [^\s"',;(){{}}\[\]|`\\]+)
    |(?P<quoted>"(?:[^"\\]|\\.)*(?:"|\\?$))
    |(?P<mark>[\s"'(){{}}\[\],;|:=<>`\\])
    |(?P<run>[^\s"'(){{}}\[\],;|:=<>`\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_KAFKAS_WORDS: Final = """
type version data offset timestamp true false null isTransactional isControl deleteHorizonMs
compresscodec compressCodec none NONE headerKeys headers payload key record records batch
Batch Dumping Starting Log Snapshot end start epoch isvalid partitionLeaderEpoch baseOffset
lastOffset lastContainedLogTimestamp KRaftVersion LeaderChange SnapshotHeader SnapshotFooter
id resourceType resourceName patternType principal host operation permissionType name
Current ACLs for resource ResourcePattern is Allowed Denied from on request with based rule
Principal Host Operation Resource resourceRefCount Cluster Topic Group TransactionalId User
DelegationToken MatchingAcl DefaultAllow DefaultDeny SuperUser ALLOW DENY ANY ALL READ WRITE
CREATE DELETE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE
CREATE_TOKENS DESCRIBE_TOKENS TWO_PHASE_COMMIT UNKNOWN TOPIC GROUP CLUSTER TRANSACTIONAL_ID
DELEGATION_TOKEN USER LITERAL PREFIXED MATCH GLOB ERROR WARN INFO DEBUG TRACE FATAL Error
Warning error while executing ACL command Timed out waiting node assignment Call
"""
_HARMLESS: Final = frozenset(_KAFKAS_WORDS.split())
_TYPE: Final = re.compile(r"(?:[A-Z]{1,20}_){1,6}RECORD")
_VALUES: Final = {
    # Of a name with = in it only the parts of a distinguished name: a=b may be a key glued to it.
    "principal": re.compile(
        r"[A-Za-z][A-Za-z_]{0,40}:(?:[^=]|\b(?:CN|OU|O|L|ST|C|DC|UID)=)*", re.DOTALL
    ),
    "name": re.compile(r"[^=:]*"),
    "resourcename": re.compile(r"[^=:]*"),
    "resource": re.compile(r"[^=]*"),
    "host": re.compile(r"\*|[0-9a-fA-F.:*?]+|[\w-]+(?:\.[\w-]+)+"),
    "id": re.compile(r"[A-Za-z0-9_-]{22}|[0-9a-f-]{36}"),
}
"""What the values that are kept look like."""

_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/]{32,}")


def mask_text(line: str) -> str:
    """Return the part of a rejected text line that may be kept.

    Kafka's words are kept, and numbers after their keys. If the line is only about an ACL or a
    request, principal, host and resource are kept too. Nothing after the key of a credential is
    kept. At most 500 characters are kept.

    >>> mask_text('{"type":"CONFIG_RECORD","data":{"name":"x","value":"hunter2"}}')
    '{"type":"CONFIG_RECORD","data":{"name":"***",***'
    >>> mask_text("Current ACLs for resource `ResourcePattern(resourceType=TOPC, name=orders")
    'Current ACLs for resource `ResourcePattern(resourceType=***, name=***'
    """
    text = line[:_LOOKED_AT].encode(errors="replace").decode()
    credential = _CREDENTIAL.search(text)
    tail = ""
    if credential is not None:
        text, tail = text[: credential.start()], MASK
    is_of_access = (
        credential is None
        and not _FOREIGN.search(text)
        and (names_acl(text) or _REQUEST.search(text) is not None)
    )
    kept = _TOKENS.sub(lambda match: _mask(match, is_of_access=is_of_access), text)
    return (kept + tail)[:_KEPT]


def digest(text: str) -> str:
    """Return the sha-256 of a text in hex, so that the same bad row is known again."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def names_acl(text: str) -> bool:
    """Whether a text names an ACL record, in either of Kafka's spellings."""
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


def _mask(match: re.Match[str], *, is_of_access: bool) -> str:
    """Return a part of a line if it is harmless, else the mask in its place."""
    kind = match.lastgroup
    if kind in ("number", "time", "mark"):
        return match[0]
    if kind == "value":
        quote = match["value"][0] if match["value"][0] in "\"'" else ""
        value = match["value"].strip("\"'") if quote else match["value"]
        # Kafka writes key=value, "key":"value" and no third form.
        is_whole = bool(quote) or "=" in match["key"]
        kept = (
            value if is_of_access and is_whole and _is_like(match["name"].lower(), value) else MASK
        )
        return f"{match['key']}{quote}{kept}{quote}"
    text = match[0].strip('"')
    kept = text if text in _HARMLESS or _TYPE.fullmatch(text) else MASK
    return f'"{kept}"' if kind == "quoted" else kept


def _is_like(name: str, value: str) -> bool:
    is_like = _VALUES[name].fullmatch(value) is not None
    return is_like and not _LONG_RUN.search(value) and not _WORD.search(value)
