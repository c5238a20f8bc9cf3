"""``super.users`` → what its writer probably meant otherwise. Pure.

Source: StandardAuthorizer.configure: split at ``;`` only, and compared with ``type:name`` as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from aclkit.model.principal import WILDCARD_PRINCIPAL, parse_super_users, split_principal
from aclkit.model.symbol import PRINCIPALS, is_symbol, refuse_symbol

USER: Final = "User"
PLACEHOLDER: Final = "${"
"""How a placeholder begins: one of a template, or of a config provider."""

MOST_ALIKE: Final = 3
"""So many super users alike a principal are named."""

_COMMA: Final = re.compile(r"(?<!\\),")
_BLANKS_AROUND: Final = re.compile(r"\s*(?P<sign>(?<!\\),|=)\s*")


def given_super_users(text: str) -> frozenset[str]:
    """Read ``super.users`` that a person gives, as ``parse_super_users`` does.

    Raises:
        UsageError: a part has no colon, or is a symbol.
    """
    users = parse_super_users(text)
    for user in sorted(users):
        refuse_symbol(PRINCIPALS, user)
    return users


def near_misses(users: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each super user that Kafka takes otherwise than its writer meant.

    >>> print(*near_misses({"User:a,User:b", "User:CN=x,O=y"}))
    Kafka splits super.users at ';' only, so 'User:a,User:b' is one super user. Did you mean \
'User:a;User:b'?
    """
    for user in sorted(users):
        if said := _near_miss(user):
            yield said


def has_placeholder(users: Iterable[str]) -> bool:
    """Whether some name is still to be filled in."""
    return any(PLACEHOLDER in user for user in users)


def alike(principal: str, users: Iterable[str]) -> tuple[str, ...]:
    """Return the super users that are not this principal, although a person may think so.

    >>> alike("User:CN=ops,O=x", ["User:CN=ops", "User:CN=ops, O=x", "User:CN=other,O=x"])
    ('User:CN=ops', 'User:CN=ops, O=x')
    >>> alike("User:a", ["User:a,User:b", "user:A", "User:ab"])
    ('User:a,User:b', 'user:A')
    """
    plain, first = _plain(principal), _first_name(principal)
    found = []
    for user in sorted(set(users) - {principal}):
        is_part = plain in map(_plain, _COMMA.split(user))
        has_name = first is not None and first == (_first_name(user) or _name(user).casefold())
        if plain == _plain(user) or is_part or has_name:
            found.append(user)
    return tuple(found[:MOST_ALIKE])


def _near_miss(user: str) -> str | None:
    kind, name = split_principal(user) or ("", user)
    if PLACEHOLDER in user:
        return f"super.users has the placeholder {user!r}, which aclkit cannot resolve."
    if "," in name and (split := _split_at_commas(kind, name)):
        return (
            f"Kafka splits super.users at ';' only, so {user!r} is one super user. "
            f"Did you mean {split!r}?"
        )
    if not name:
        return f"The super user {user!r} has no name, so no client is this principal."
    if is_symbol(PRINCIPALS, user):
        return (
            f"The super user {user!r} is one client of this very name. In answers the name stands "
            "for any other principal, which is no super user."
        )
    if user == WILDCARD_PRINCIPAL:
        return f"The super user {user!r} is compared as text, so it does not stand for every user."
    if kind != USER or name.startswith(f"{USER}:"):
        return (
            f"The super user {user!r} has the type {kind!r} and the name {name!r}. Kafka's own "
            f"principals have the type {USER!r} and a plain name. Did you mean "
            f"{_with_type(name)!r}?"
        )
    if "=" in name and (written := _BLANKS_AROUND.sub(r"\g<sign>", name)) != name:
        return (
            f"The super user {user!r} has blanks in its name. Java writes the name of a "
            f"certificate without them. Did you mean {f'{kind}:{written}'!r}?"
        )
    return None


def _split_at_commas(kind: str, name: str) -> str | None:
    """Return a list that somebody wrote with commas as Kafka splits it; None for a whole name."""
    first, *more = (part.strip() for part in _COMMA.split(name))
    if all("=" in part and not part.lower().startswith("user:") for part in more):
        return None
    return ";".join([f"{kind}:{first}", *map(_with_type, filter(None, more))])


def _with_type(name: str) -> str:
    is_typed = name[: len(USER) + 1].lower() == "user:"
    return f"{USER}:{name[len(USER) + 1 :] if is_typed else name}"


def _plain(principal: str) -> str:
    """Return a principal without capitals, and without blanks where a certificate's has none."""
    return _BLANKS_AROUND.sub(r"\g<sign>", principal.strip()).casefold()


def _name(principal: str) -> str:
    return principal.partition(":")[2]


def _first_name(principal: str) -> str | None:
    """Return the common name with which a certificate's name begins; None of another name."""
    first = _COMMA.split(_plain(_name(principal)))[0]
    return first.removeprefix("cn=") if first.startswith("cn=") else None
