"""Evidence of a review → one HTML file that needs no network and runs no script.

Names and reasons come from strangers: the template escapes them (jinja2's autoescape), and the
page's own policy (CSP) allows its style and nothing else.
"""

from __future__ import annotations

from jinja2 import FunctionLoader

from aclkit.audit.reports.as_html import own_markup
from aclkit.audit.reports.assets import LOOK, digest, environment, part, style
from aclkit.audit.review.closing import evidence_parts
from aclkit.audit.review.evidence import Evidence


def evidence_page(evidence: Evidence) -> str:
    """Return the page."""
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
