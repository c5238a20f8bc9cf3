"""One table: with which exit code each command ends that compares two states.

The columns are what differs. ``unknown``: the search limit was reached before anything was found.
``order``: a plan deletes an ACL and creates it again, in any order; at its worst it is lost.
``perhaps``: the User Operator removes an ACL if it runs. ``gap``: access is off for a time.
"""

from __future__ import annotations

import pytest

from tests.cli import two_clusters
from tests.cli.gating import ANN, KNOWN, LOSSES, USERS
from tests.cli.running import run
from tests.cli.test_diff import build
from tests.factories import acl
from tests.kafka.desired.terraform_files import plan

INVOICES = acl("invoices", principal="User:ann")
GONE = acl("logs", principal="User:gone")
HARD = acl("*a????????", pattern_type="GLOB", principal="User:bob")
HARDER = acl("*b*a????????", pattern_type="GLOB", principal="User:bob")
LIMIT = ("--budget", "150")

FILES = ("none", "gained", "lost", "both", "unknown", "order", "perhaps", "gap")
GATE = {
    (): "0 0 0 0 1 0 0 0",
    ("--strict",): "0 1 1 1 1 1 1 1",
    ("--fail-on", "gained"): "0 1 0 1 1 0 0 0",
    ("--fail-on", "lost"): "0 0 1 1 1 1 1 0",
    ("--fail-on", "gap"): "0 0 0 0 1 1 0 1",
    ("--fail-on", "any"): "0 1 1 1 1 1 1 1",
}
"""Of ``preview apply``."""
CLAIMS = {"same": "0 1 1 1 1 1 1 0", "no-more": "0 1 0 1 1 0 0 0", "no-less": "0 0 1 1 1 1 1 0"}
"""Of ``prove``: a claim is proven or not; what holds for a time only is none of its matter."""
CLAIMS_AS_GATE = {
    ("no-more", "--fail-on", "lost"): "0 1 1 1 1 1 1 0",
    ("no-less", "--fail-on", "gap"): "0 0 1 1 1 1 1 1",
    ("no-more", "--fail-on", "gained", "--strict"): "0 1 1 1 1 1 1 1",
}
"""Of ``prove`` with the options of a gate: both must be content."""


def cells(table):
    return [
        pytest.param(words, what, int(code), id=f"{' '.join(words) or 'plain'}-{what}")
        for words, codes in table.items()
        for what, code in zip(FILES, codes.split(), strict=True)
    ]


@pytest.fixture
def sides(work, acl_file, write):
    """A before and an after that differ so."""

    def of(what):
        before = {"unknown": [HARD], "perhaps": [ANN, INVOICES, GONE]}.get(what, [ANN])
        acl_file("before.txt", *before)
        if what in ("order", "gap"):
            name = "undefined-order" if what == "order" else "gap"
            return "before.txt", write("plan.json", plan(*LOSSES[name]))
        if what == "perhaps":
            return "before.txt", write("users.yaml", USERS)
        after = {"none": [ANN], "gained": [ANN, INVOICES], "lost": [acl("other", principal="x")],
                 "both": [INVOICES], "unknown": [HARD, HARDER]}[what]  # fmt: skip
        acl_file("after.txt", *after)
        return "before.txt", "after.txt"

    return of


def settings(what):
    return (*KNOWN, "--semantics", "kip-1042", *(LIMIT if what == "unknown" else ()))


@pytest.mark.parametrize(("words", "what", "code"), cells(GATE))
def test_preview_apply(sides, words, what, code):
    before, after = sides(what)
    run("preview", "apply", after, "--base", before, *settings(what), *words, code=code)


@pytest.mark.parametrize(("words", "what", "code"), cells({(c,): row for c, row in CLAIMS.items()}))
def test_prove(sides, words, what, code):
    run("prove", *words, *sides(what), *settings(what), code=code)


@pytest.mark.parametrize(
    ("words", "what", "code"),
    cells({
        (): "0 0 0 0 0 0 0 0",
        ("--fail-on", "any"): CLAIMS["same"],
        ("--fail-on", "gained"): CLAIMS["no-more"],
        ("--fail-on", "lost"): CLAIMS["no-less"],
        ("--fail-on", "gap"): "0 0 0 0 1 1 0 1",
        ("--fail-on", "gained", "--strict"): "0 1 1 1 1 1 1 1",
    }),
)  # fmt: skip
def test_diff_of_two_sides(sides, words, what, code):
    run("diff", *sides(what), *words, *settings(what), code=code)


@pytest.mark.parametrize(("words", "what", "code"), cells(CLAIMS_AS_GATE))
def test_prove_as_a_gate(sides, words, what, code):
    run("prove", words[0], *sides(what), *words[1:], *settings(what), code=code)


WAREHOUSE = ("none", "gained", "lost", "both", "unknown")
EFFECT = {
    (): "0 0 0 0 0",
    ("--fail-on", "gained"): "0 1 0 1 1",
    ("--fail-on", "lost"): "0 0 1 1 1",
    ("--fail-on", "any"): "0 1 1 1 1",
}
"""Of what shows an effect: without an option nothing that differs is a failure."""
MOMENTS = {"none": (10, 20), "gained": (40, 51), "lost": (55, 65), "both": (40, 65),
           "unknown": (55, 65)}  # fmt: skip


def limit(what):
    return ("--budget-total", "1") if what == "unknown" else ()


def effects(columns):
    return [
        pytest.param(words, what, int(code), id=f"{' '.join(words) or 'plain'}-{what}")
        for words, codes in EFFECT.items()
        for what, code in zip(WAREHOUSE, codes.split(), strict=True)
        if what in columns
    ]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return build(tmp_path_factory.mktemp("codes") / "warehouse", (0, 100))


@pytest.mark.parametrize(("words", "what", "code"), effects(WAREHOUSE))
def test_diff_of_two_moments(root, words, what, code):
    run("--warehouse", root, "diff", *MOMENTS[what], *words, *limit(what), code=code)


CHANGES = {
    "none": ("remove-acl", "--topic", "nothing", "--resource-pattern-type", "literal"),
    "gained": ("add-acl", "--allow-principal", "User:new", "--operation", "Read", "--topic", "new"),
    "lost": ("add-acl", "--deny-principal", "User:carol", "--operation", "Read",
             "--topic", "orders"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "what", "code"), effects(CHANGES))
def test_preview_of_acls(root, words, what, code):
    run("--warehouse", root, "preview", *CHANGES[what], *words, code=code)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """Pairs of clusters that differ so."""
    one, other = (acl(name, principal="User:a", acl_id=name) for name in ("one", "other"))
    sides = {"none": ([one], [one]), "gained": ([one], [one, other]), "lost": ([one], []),
             "both": ([one], [other]), "unknown": ([one], [])}  # fmt: skip
    root = tmp_path_factory.mktemp("pairs")
    return {
        what: two_clusters.build(root / what, {"a": (then, ["t"]), "b": (now, ["t"])})
        for what, (then, now) in sides.items()
    }


@pytest.mark.parametrize(("words", "what", "code"), effects(WAREHOUSE))
def test_diff_of_two_clusters(clusters, words, what, code):
    run("--warehouse", clusters[what], "--cluster", "a", "diff", "--with", "b", *words,
        *limit(what), code=code)  # fmt: skip
