"""Evidence and what is written beside it → digests of these files, and whether they are still so.

The script that removes access, and the page for people. Both are made from the evidence, and are
what people run and read: the evidence says what they were.

The page needs no network and runs no script. Names and reasons come from strangers: the template
escapes them (jinja2's autoescape), and the page's own policy (CSP) allows its style and nothing
else. The evidence holds the digest of the page, and the page shows the hash of the evidence. So the
page has one place for the hash, and the digest is over the page whose place is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from jinja2 import FunctionLoader

from aclkit.audit.reports.as_html import own_markup
from aclkit.audit.reports.assets import LOOK, digest, environment, part, style
from aclkit.audit.review.closing import evidence_parts
from aclkit.audit.review.evidence import EVIDENCE_PAGE, SCRIPT, Evidence, digest_of
from aclkit.errors import UsageError
from aclkit.runtime.safe_read import LARGEST_DATA, read_file

_BEFORE, _AFTER = '<code class="evidence-hash">', "</code>"
"""What stands around the hash. Texts of strangers are escaped, so it is there once."""


def with_hash(page: str, evidence_hash: str) -> str:
    """Write the hash into the page of ``evidence_page``."""
    return page.replace(f"{_BEFORE}{_AFTER}", f"{_BEFORE}{evidence_hash}{_AFTER}")


def without_hash(page: str, evidence_hash: str) -> str | None:
    """Return the page as its digest is taken; None where it does not show the hash once."""
    shown = f"{_BEFORE}{evidence_hash}{_AFTER}"
    if page.count(_BEFORE) != 1 or shown not in page:
        return None
    return page.replace(shown, f"{_BEFORE}{_AFTER}")


def evidence_page(evidence: Evidence) -> str:
    """Return the page; the place of the hash is empty."""
    looks = style(LOOK, "report.css")
    policy = "; ".join((
        "default-src 'none'", f"style-src {digest(looks)}", "img-src data:", "base-uri 'none'",
        "form-action 'none'",
    ))  # fmt: skip
    template = environment(FunctionLoader(part)).get_template("evidence.html.j2")
    return template.render(
        policy=policy,
        name=evidence.review.name,
        cluster=evidence.review.pins.cluster_id,
        parts=evidence_parts(evidence),
        style=own_markup(looks),
    )


_OLDER: Final = (
    f"Pages not covered: the review was closed before evidence had the digest of {EVIDENCE_PAGE}."
)


class Checked(NamedTuple):
    """What the files beside the evidence show.

    Attributes:
        sound: the files that are as they were written.
        differences: sentences; none where no file differs.
        notes: what could not be checked.
    """

    sound: tuple[str, ...]
    differences: tuple[str, ...]
    notes: tuple[str, ...]


def finish(evidence: Evidence) -> tuple[Evidence, str]:
    """Return evidence with the digests of the files beside it, and the page."""
    page = evidence_page(evidence)
    digests = {EVIDENCE_PAGE: digest_of(page), SCRIPT: digest_of(evidence.closing.script)}
    whole = evidence.with_files(digests)
    return whole, with_hash(page, whole.hash)


def check_beside(evidence: Evidence, path: str) -> Checked:
    """Compare the files beside evidence with what it says of them.

    Args:
        evidence: the evidence.
        path: where it is.

    Raises:
        SurroundingsError: a file is there and cannot be read.
    """
    folder = path[: path.rfind("/") + 1]
    sound, differences, notes = [], [], []
    if evidence.closing.files is None:
        notes.append(_OLDER)
    for name in (SCRIPT, EVIDENCE_PAGE) if evidence.closing.files else (SCRIPT,):
        try:
            data = read_file(f"{folder}{name}", LARGEST_DATA)
        except UsageError as error:
            notes.append(f"{name} was not checked: {error}")
            continue
        found = list(_changed(evidence, name, data))
        differences += found
        sound += [] if found else [name]
    return Checked(tuple(sound), tuple(differences), tuple(notes))


def _changed(evidence: Evidence, name: str, data: bytes) -> Iterator[str]:
    """Yield that a file is not as it was written."""
    if name == SCRIPT:
        if data != evidence.closing.script.encode():
            line = _first_line(evidence.closing.script, data.decode(errors="replace"))
            yield f"{SCRIPT} was changed in line {line}. Do not run it."
        return
    page, digests = _page(evidence, data), evidence.closing.files or {}
    if page is None or digest_of(page) != digests[EVIDENCE_PAGE]:
        yield f"{EVIDENCE_PAGE} was changed. Do not rely on it."


def _page(evidence: Evidence, data: bytes) -> str | None:
    try:
        return without_hash(data.decode(), evidence.hash)
    except UnicodeDecodeError:
        return None


def _first_line(expected: str, found: str) -> int:
    """Return the first line of a text that is not as expected."""
    mine, theirs = expected.split("\n"), found.split("\n")
    pairs = zip(mine, theirs, strict=False)
    differing = (number for number, (one, other) in enumerate(pairs, 1) if one != other)
    return next(differing, min(len(mine), len(theirs)) + 1)
