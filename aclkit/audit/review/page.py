"""Evidence of a review → one HTML file that needs no network and runs no script, and back.

Names and reasons come from strangers: the template escapes them (jinja2's autoescape), and the
page's own policy (CSP) allows its style and nothing else.

The evidence holds the digest of the page, and the page shows the hash of the evidence. So the page
has one place for the hash, and the digest is over the page whose place is empty.
"""

from __future__ import annotations

from jinja2 import FunctionLoader

from aclkit.audit.reports.as_html import own_markup
from aclkit.audit.reports.assets import LOOK, digest, environment, part, style
from aclkit.audit.review.closing import evidence_parts
from aclkit.audit.review.evidence import Evidence

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
