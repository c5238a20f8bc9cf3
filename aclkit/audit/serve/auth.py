"""A request's head → why it is refused, or who asks: the token, sessions, hosts and proxies.

On loopback too a token is asked for, for other users of the machine reach it as well; a page of
another site reaches it through the browser of somebody who may, so that the name it was asked by
and the site that posts count. All of it takes time in proportion to the head, which is bounded: who
asks is not known yet. A session is signed with the token, so a new token ends them all, and nothing
is kept of one but that it was ended early. See docs/serve.md.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import stat
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aclkit.errors import AclkitError, UsageError
from aclkit.model.phrases import listed
from aclkit.runtime.safe_read import read_text

_LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the file."""

_log = logging.getLogger(__name__)


class TokenFile:
    """The token of a file. While the file holds none, there is one that no user knows."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Read the file.

        Raises:
            UsageError: there is none, the token is too short, it does not end, or others may read
                it.
        """
        self._path, self._clock = path, clock
        self._seen = _state(path)
        self._token = read_token(path)
        self._looked_at = clock()

    def __call__(self) -> str:
        """Return the token; a pipe gave its own once and for all."""
        if self._seen is not None and self._clock() - self._looked_at >= _LOOK_EVERY:
            self._looked_at = self._clock()
            if (seen := _state(self._path)) != self._seen:
                self._seen = seen or ()
                self._read_again()
        return self._token

    def _read_again(self) -> None:
        try:
            self._token = read_token(self._path)
            _log.warning("The token has changed. All sessions have ended.")
        except UsageError as error:
            self._token = secrets.token_urlsafe(32)
            _log.warning(
                "warning: The token file holds no valid token, so all are refused. %s", error
            )


def read_token(path: str) -> str:
    """Read a token that others cannot.

    Raises:
        UsageError: there is none, it is too short, it does not end, or others may read it.
    """
    try:
        mode, text = Path(path).stat().st_mode, read_text(path).strip()
    except (OSError, AclkitError) as error:
        raise UsageError(f"Cannot read the token from {path}: {error}") from None
    if stat.S_IMODE(mode) & (stat.S_IROTH | stat.S_IWOTH):
        raise UsageError(f"Other users can read the token in {path}. Run: chmod o= {path}")
    if len(text) < LEAST_TOKEN or not TOKEN_LETTERS.issuperset(text):
        raise UsageError(
            f"Invalid token in {path}. It needs at least {LEAST_TOKEN} letters, digits, - and _. "
            "Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return text


def _state(path: str) -> tuple[int, ...] | None:
    """Return what changes with a file's content; None where it is no regular file."""
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    is_file = stat.S_ISREG(found.st_mode)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode) if is_file else None


AGE: Final = 12 * 3_600
"""Seconds that a session lasts."""

_MOST_ENDED: Final = 10_000
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """The sessions of one server.

    Attributes:
        token: returns the token in force.
        clock: returns the time, in seconds since 1970.
    """

    token: Callable[[], str]
    clock: Callable[[], float] = time.time
    _ended: dict[str, None] = field(default_factory=dict)

    def begin(self) -> str:
        """Return a new session."""
        said = f"{int(self.clock())}.{secrets.token_hex(16)}"
        return f"{said}.{self._signed(said)}"

    def is_in_force(self, session: str) -> bool:
        """Whether a text is a session that has not ended."""
        if len(session) > _LONGEST or not session.isascii():
            return False
        said, _, signature = session.rpartition(".")
        if not hmac.compare_digest(signature, self._signed(said)):
            return False
        begun = int(said.partition(".")[0])  # ours, by its signature
        return 0 <= self.clock() - begun < AGE and session not in self._ended

    def end(self, session: str) -> None:
        """End a session that is in force, on this server."""
        if self.is_in_force(session):
            if len(self._ended) >= _MOST_ENDED:
                del self._ended[next(iter(self._ended))]
            self._ended[session] = None

    def _signed(self, said: str) -> str:
        key = self.token().encode()
        return hmac.new(key, f"aclkit serve: session {said}".encode(), hashlib.sha256).hexdigest()


Network = IPv4Network | IPv6Network

LARGEST_POST: Final = 65_536
READING: Final = ("GET", "HEAD")
LEAST_TOKEN: Final = 32
TOKEN_LETTERS: Final = frozenset(f"{string.ascii_letters}{string.digits}-_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posts:
    """What a server is asked by POST, and how the asker is known.

    Attributes:
        kind: the media type of a body, and ``name`` what bodies are called.
        reading: methods that are answered in addition to POST.
        from_pages: who posts is a page of this server, so a browser names it; otherwise it is a
            program, which has no page, and the token is in a header of each request.
        advice: what somebody without the token does.
    """

    kind: str
    name: str
    reading: tuple[str, ...]
    from_pages: bool
    advice: str


FORMS: Final = Posts(
    kind="application/x-www-form-urlencoded",
    name="Forms",
    reading=READING,
    from_pages=True,
    advice="Open the address that aclkit serve printed when it started.",
)
MESSAGES: Final = Posts(
    kind="application/json",
    name="Messages",
    reading=(),
    from_pages=False,
    advice="Send the token of aclkit mcp as the header Authorization: Bearer TOKEN.",
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status and the sentence that goes with it."""

    status: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHead:
    """The head of a request.

    Attributes:
        headers: names in lower case; a header that is there twice has both values.
        peer: the address that it came from.
        repeated: the names of headers that are there twice.
    """

    method: str
    headers: Mapping[str, str]
    peer: str
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """Who may come in.

    Attributes:
        token: returns what the asker must know.
        sessions: those of browsers, which gave the token.
        hosts: the names (with the port, where it is not the scheme's) that are served.
        cookie: the cookie's name; cookies know no port, so that it holds one.
        posts: what is asked; programs have no cookie.
        proxies: addresses whose ``user_header`` is believed.
        user_header: in lower case.
    """

    token: Callable[[], str]
    sessions: Sessions
    hosts: frozenset[str]
    cookie: str
    proxies: Sequence[Network] = ()
    user_header: str = "x-forwarded-user"
    posts: Posts = FORMS

    def refusal(self, asked: RequestHead) -> Refusal | None:
        """Return why a request is refused whoever asks."""
        host = asked.headers.get("host", "").lower()
        if host not in self.hosts:
            return Refusal(421, "Unknown host name. Start aclkit with --allow-host NAME.")
        if "transfer-encoding" in asked.headers and "content-length" in asked.headers:
            return Refusal(400, "Transfer-Encoding and Content-Length contradict each other.")
        if self.trusts(asked.peer) and self._named(asked) is None:
            return Refusal(400, f"Expected one {self.user_header} header, in UTF-8.")
        posts = self.posts
        if asked.method in posts.reading:
            return None
        if asked.method != "POST":
            known = listed([*posts.reading, "POST"])
            return Refusal(405, f"Only {known} {'are' if posts.reading else 'is'} supported.")
        if not _is_own(asked.headers, host, is_named=posts.from_pages):
            return Refusal(403, f"{posts.name} are accepted only from this server's own pages.")
        return _unfit_body(asked.headers, posts)

    def knows(self, token: str) -> bool:
        """Whether this is the token; how long it takes tells nothing."""
        return hmac.compare_digest(token.encode(errors="replace"), self.token().encode())

    def user(self, asked: RequestHead) -> str | None:
        """Return who asks: a proxy's user, "token", or None for all others."""
        has_token = self._has_cookie(asked) or self._has_bearer(asked)
        if user := self._proxy_user(asked, has_token=has_token):
            return user
        return "token" if has_token else None

    def proxy_user(self, asked: RequestHead) -> str | None:
        """Return whom a trusted proxy names; None for all others, who decide nothing."""
        has_token = self._has_cookie(asked) or self._has_bearer(asked)
        return self._proxy_user(asked, has_token=has_token) or None

    def form_token(self, user: str) -> str:
        """Return what a form that writes must hold: of this server and this user alone."""
        said = b"aclkit serve: form\0" + user.encode(errors="replace")
        return hmac.new(self.token().encode(), said, hashlib.sha256).hexdigest()

    def knows_form(self, user: str, given: str) -> bool:
        """Whether a form holds its user's token."""
        expected = self.form_token(user)
        return hmac.compare_digest(given.encode(errors="replace"), expected.encode())

    def _proxy_user(self, asked: RequestHead, *, has_token: bool) -> str | None:
        """Return whom a trusted proxy names; from loopback any local user could, who has no token.

        Other addresses' headers are as good as not there.
        """
        if not self.trusts(asked.peer) or not (has_token or not _is_loopback(asked.peer)):
            return None
        return self._named(asked)

    def trusts(self, peer: str) -> bool:
        """Whether an address is a trusted proxy's."""
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.proxies)

    def sees_https(self, asked: RequestHead) -> bool:
        """Whether a trusted proxy says that the browser asks it by https."""
        return self.trusts(asked.peer) and asked.headers.get("x-forwarded-proto") == "https"

    def session_of(self, asked: RequestHead) -> str | None:
        """Return the session of the cookie; None if there is none in force."""
        if not self.posts.from_pages:
            return None
        found = islice(_cookies(asked.headers.get("cookie", ""), self.cookie), _MOST_COOKIES)
        return next(filter(self.sessions.is_in_force, found), None)

    def _named(self, asked: RequestHead) -> str | None:
        """Return whom the header names, "" where it is not there; None if it is not one name."""
        try:
            name = asked.headers.get(self.user_header, "").encode("latin-1").decode()
        except UnicodeError:
            return None
        return None if self.user_header in asked.repeated else name

    def _has_cookie(self, asked: RequestHead) -> bool:
        return self.session_of(asked) is not None

    def _has_bearer(self, asked: RequestHead) -> bool:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.knows(token)


_MOST_COOKIES: Final = 8
"""Cookies of our name that are tried: each page of the machine can set one."""


def _cookies(header: str, name: str) -> Iterator[str]:
    """Yield the values of a cookie, in one pass over the header."""
    for part in header.split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name:
            yield value.strip()


def _is_loopback(peer: str) -> bool:
    return ip_address(peer).is_loopback


def _is_own(headers: Mapping[str, str], host: str, *, is_named: bool) -> bool:
    """Whether a body comes from a page of this server, by both headers where there are both.

    Without them no browser sent it: that is refused where a page must be named.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None and site is None:
        return not is_named
    try:
        same = origin is None or urlsplit(origin).netloc.lower() == host
    except ValueError:
        return False
    return same and site in (None, "same-origin")


def _unfit_body(headers: Mapping[str, str], posts: Posts) -> Refusal | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    length = headers.get("content-length", "")
    if kind != posts.kind:
        return Refusal(415, f"{posts.name} must be {posts.kind}.")
    if not (length.isascii() and length.isdigit()):
        return Refusal(411, f"{posts.name} need a Content-Length header.")
    if len(length) > len(str(LARGEST_POST)) or int(length) > LARGEST_POST:
        return Refusal(413, f"{posts.name} are limited to {LARGEST_POST:,} bytes.")
    return None


def parse_proxies(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read addresses and networks of proxies.

    Raises:
        UsageError: one is neither.

    >>> parse_proxies(["10.0.0.7", "10.1.0.0/16"])
    (IPv4Network('10.0.0.7/32'), IPv4Network('10.1.0.0/16'))
    """
    try:
        return tuple(map(ip_network, texts))
    except ValueError as error:
        raise UsageError(
            f"Invalid --trusted-proxy: {error}. Pass an address or a network such as 10.0.0.0/24."
        ) from None


def served_hosts(listen: str, port: int, more: Sequence[str]) -> frozenset[str]:
    """Return the Host headers that are answered: this machine's own, and what a proxy is called.

    >>> sorted(served_hosts("127.0.0.1", 80, ["ACL.example.org", "2001:DB8::0:7"]))
    ['127.0.0.1', '127.0.0.1:80', '[2001:db8::7]', '[2001:db8::7]:80', '[::1]', '[::1]:80', \
'acl.example.org', 'acl.example.org:80', 'localhost', 'localhost:80']
    """
    names = {"127.0.0.1", "localhost", "[::1]", host_to_open(listen)}
    with_port = {f"{name}:{port}" for name in names}
    # A browser leaves out the port of the scheme, and a proxy has one of its own.
    said = {_written(name) for name in more}
    return frozenset(
        with_port | said | {f"{name}:{port}" for name in said} | (names if port == 80 else set())
    )


def host_to_open(listen: str) -> str:
    """Return the host of the address to open for an address that is listened on.

    One that stands for all of this machine's is none to ask by; of one that is bound to an
    interface, browsers say the address alone.

    >>> [host_to_open(listen) for listen in ("0.0.0.0", "::", "0:0::1", "fe80::1%eth0", "A.test")]
    ['127.0.0.1', '[::1]', '[::1]', '[fe80::1]', 'a.test']
    """
    found = _written(listen)
    if found.strip("[:].0"):
        return found
    return "[::1]" if ":" in found else "127.0.0.1"


def _written(host: str) -> str:
    """Write a host as browsers do: in small letters, IPv6 in brackets and as short as it can be."""
    try:
        found = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return host.lower()
    return f"[{found}]" if found.version == 6 else str(found)
