"""The commands of a review, from start to evidence, on a small warehouse."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aclkit.cli.help import read_index
from aclkit.model.acl import Request
from tests.cli.running import run
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

OWNERS = """\
principal,resource,owner,purpose,class,contact
User:*,,platform,,system,
*,topic:pay*,payments,cards,application,pay@example.org
"""
HOSTILE = "User:<script>\x1b[31m"
ACLS = [*small.ACLS, acl(20, principal=HOSTILE, resource_name="orders")]


class Place:
    """A warehouse, its reviews, and the commands on them."""

    def __init__(self, folder: Path) -> None:
        self.warehouse, self.reviews = folder / "warehouse", folder / "warehouse.reviews"
        self.owners = folder / "owners.csv"
        self.owners.write_text(OWNERS, encoding="utf-8")

    def run(self, *words, code=0):
        return run("--warehouse", self.warehouse, "review", *words, code=code)

    def start(self, *words, code=0):
        return self.run("start", "--by", "ana", "--owners", self.owners, *words, code=code)

    def decide(self, *words, code=0):
        return self.run("decide", *words, "--by", "bob", "--reason", "checked", code=code)

    def items(self, name=None):
        named = ["--review", name] if name else []
        return json.loads(self.run("show", *named, "--format", "json").stdout)

    def item(self, principal, name=None):
        return next(i for i in self.items(name) if i["principal"] == principal)

    def close_all(self, name="q1"):
        self.decide("keep", "--principal", "*", "--review", name)
        self.run("close", "--by", "ana", "--review", name)
        return self.reviews / name / "evidence.json"


@pytest.fixture
def place(tmp_path):
    small.build(tmp_path / "warehouse", ACLS)
    return Place(tmp_path)


def test_a_review_goes_from_start_to_evidence_that_is_reproduced(place):
    said = place.start("--name", "q1").stdout
    number = len(place.items())
    assert said.startswith(f"Review q1 asks about {number} items as of offset 100.")
    evidence = place.close_all()
    assert "Sound and reproduced" in place.run("verify", evidence).stdout
    offline = run("review", "verify", evidence, "--offline").stdout
    assert offline.startswith("Sound: ")


def test_items_are_shown_by_owner_and_nothing_without_an_owner_is_left_out(place):
    place.start("--name", "q1")
    text = place.run("show").stdout
    owners = [line for line in text.splitlines() if "open)" in line]
    assert [line.partition(" (")[0] for line in owners] == ["No owner", "payments", "platform"]
    assert {i["owner"] for i in place.items()} == {"", "payments", "platform"}
    assert "because ALLOW ALL on topic pay* (prefix) from any host" in text
    assert "purpose: cards" in text
    assert "today 2 topics: pay-x, payments" in text
    # User:* and super users are items too, and allow.everyone is.
    kinds = {(i["kind"], i["principal"]) for i in place.items()}
    assert {("super-user", "User:admin"), ("default", "User:*"), ("grant", "User:*")} <= kinds
    assert "\x1b" not in text


def test_status_counts_by_owner_and_close_refuses_open_items(place):
    place.start("--name", "q1")
    place.decide("keep", "--owner", "payments")
    rows = list(csv.DictReader(io.StringIO(place.run("status", "--format", "csv").stdout)))
    payments = next(row for row in rows if row["owner"] == "payments")
    assert (payments["open"], payments["keep"]) == ("0", payments["items"])
    assert rows[0]["owner"] == "No owner"
    refused = place.run("close", "--by", "ana", code=1).stderr
    assert "The review q1 cannot be closed yet:" in refused
    assert f"No owner: {rows[0]['items']} items are open" in refused
    assert "payments" not in refused
    assert not (place.reviews / "q1" / "evidence.json").exists()


def test_open_items_are_decided_at_the_end_only_if_asked_for_and_visibly(place):
    place.start("--name", "q1")
    place.run("close", "--by", "ana", "--open-as", "remove")
    evidence = json.loads((place.reviews / "q1" / "evidence.json").read_text(encoding="utf-8"))
    assert {(d["via"], d["by"], d["reason"]) for d in evidence["decisions"]} == {
        ("close", "ana", "Not decided when the review was closed.")
    }
    assert evidence["closing"]["kept"] == 0


def test_what_is_removed_comes_out_as_a_script_with_its_effect(place):
    place.start("--name", "q1")
    item = place.item("User:x'y")
    place.decide(item["item"][:6], "remove")
    place.decide("keep", "--principal", "*")
    text = place.run("close", "--by", "ana").stdout
    assert "- User:x'y: DESCRIBE_CONFIGS, " in text
    script = (place.reviews / "q1" / "removals.sh").read_text(encoding="utf-8")
    assert f"Review q1, item {item['item']}, bob: checked" in script
    assert script.count("\nremove --topic") == 1
    assert subprocess.run(["sh", "-n"], input=script, encoding="utf-8", check=False).returncode == 0
    page = (place.reviews / "q1" / "evidence.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert item["item"] in page


def test_a_kept_item_that_grants_what_is_removed_is_named(place):
    more = [*ACLS, acl(30, principal="User:bob", resource_name="payments", operation="READ")]
    small.build(place.warehouse.with_name("other"), more)
    place.warehouse = place.warehouse.with_name("other")
    place.reviews = place.warehouse.with_name("other.reviews")
    place.start("--name", "q1")
    narrow = next(i for i in place.items() if i["resource_name"] == "payments"
                  and i["principal"] == "User:bob")  # fmt: skip
    place.decide(narrow["item"], "remove")
    place.decide("keep", "--principal", "*")
    text = " ".join(place.run("close", "--by", "ana").stdout.split())
    wide = next(i for i in place.items("q1") if i["resource_name"] == "pay")
    assert f"Item {narrow['item']} is removed, but READ" in text
    assert f"stays: the kept item {wide['item']} grants it too" in text


def test_super_users_and_the_default_are_removed_by_hand(place):
    place.start("--name", "q1")
    place.run("close", "--by", "ana", "--open-as", "remove")
    evidence = json.loads((place.reviews / "q1" / "evidence.json").read_text(encoding="utf-8"))
    by_hand = " ".join(evidence["closing"]["by_hand"])
    assert "Remove User:admin from super.users of all brokers." in by_hand
    assert "Set allow.everyone.if.no.acl.found=false on all brokers." in by_hand
    # kafka-acls knows no globs, so these ACLs are named as well.
    assert "kafka-acls cannot remove ALLOW DESCRIBE on topic p*s (glob)" in by_hand


def test_a_removal_that_opens_something_warns(place):
    # With allow.everyone, a resource to which no ACL applies is open.
    shutil.rmtree(place.warehouse)
    small.build(place.warehouse, [acl(1, resource_name="orders", principal="User:x'y")])
    place.start("--name", "q1")
    place.decide("remove", "--principal", "User:x'y")
    place.decide("keep", "--principal", "*")
    text = " ".join(place.run("close", "--by", "ana").stdout.split())
    assert "Removing these ACLs also allows access, see the lines with +." in text
    assert "+ " in text


def test_the_next_review_asks_only_for_what_changed(place):
    place.start("--name", "q1")
    gone = place.item("User:x'y")["item"]
    place.decide(gone, "remove")
    place.close_all()
    after = [*ACLS, acl(40, principal="User:new", resource_name="orders")]
    shutil.rmtree(place.warehouse)
    small.build(place.warehouse, after)
    said = " ".join(place.start("--name", "q2", "--since", "q1").stdout.split())
    assert "Review q2 asks about 2 items" in said
    assert "1 item should have been removed before." in said
    asked = {i["principal"]: i for i in place.items("q2") if i["state"] == "open"}
    assert asked.keys() == {"User:x'y", "User:new"}
    assert "Still there: bob, " in asked["User:x'y"]["note"]
    carried = next(i for i in place.items("q2") if i["state"] == "carried")
    assert (carried["decided_by"], carried["reason"]) == ("bob", "checked")
    evidence = place.close_all("q2")
    place.run("verify", evidence)
    assert json.loads(evidence.read_text(encoding="utf-8"))["review"]["since"][0] == "q1"


def test_a_review_goes_on_only_from_a_closed_one(place):
    place.start("--name", "q1")
    refused = place.start("--name", "q2", "--since", "q1", code=2).stderr
    assert "The review q1 is still open" in refused


def test_one_changed_byte_is_refused_with_where(place):
    place.start("--name", "q1")
    evidence = place.close_all()
    sound = evidence.read_bytes()
    for old, new, where in (
        (b'"by": "bob"', b'"by": "eve"', "Decision 1 was changed"),
        (b'"kept": ', b'"kept":  ', "is not as it was written"),
        (b'"host": "*"', b'"host": "+"', "The review was changed"),
    ):
        evidence.write_bytes(sound.replace(old, new, 1))
        refused = place.run("verify", evidence, code=1).stdout
        assert refused.startswith("Refused: ")
        assert where in refused


def test_a_chain_that_was_made_anew_is_refused_by_the_hash_that_close_printed(place):
    place.start("--name", "q1")
    evidence = place.close_all()
    known = json.loads(evidence.read_text(encoding="utf-8"))["hash"]
    place.run("verify", evidence, "--expect", known)
    assert "Its hash is" in place.run("verify", evidence, "--expect", "0" * 64, code=1).stdout


def test_evidence_that_the_past_does_not_have_is_refused(place):
    place.start("--name", "q1")
    evidence = place.close_all()
    shutil.rmtree(place.warehouse)
    small.build(place.warehouse, ACLS[1:])
    assert "is not in the warehouse's past" in place.run("verify", evidence, code=1).stdout


def test_settings_that_the_pinned_run_did_not_have_are_refused(place):
    place.start("--name", "q1")
    evidence = place.close_all()
    shutil.rmtree(place.warehouse)
    small.build(place.warehouse, ACLS, small.BrokerSettings())
    refused = place.run("verify", evidence, code=1).stdout
    assert "Run 1 had other settings of the brokers." in refused


def test_a_warehouse_that_does_not_know_the_offset_or_the_cluster_ends_with_3(place, tmp_path):
    place.start("--name", "q1")
    evidence = place.close_all()
    for name, fields in (("short", {"head_offset": 50}), ("strange", {"cluster_id": "c2"})):
        other = tmp_path / name
        versions = small.build(other, ACLS)
        shutil.rmtree(other / "job_run")
        small.publish(other, versions, **fields)
        refused = run("--warehouse", other, "review", "verify", evidence, code=3).stderr
        assert "cannot reproduce offset 100 of cluster c1" in refused
    missing = run("review", "verify", tmp_path / "none.json", "--offline", code=2).stderr
    assert "does not exist" in missing


def test_the_template_needs_classes_a_frequency_and_an_acknowledgement(place):
    place.owners.write_text(
        "principal,owner,class\n*,all,application\nUser:*,all,system\n", encoding="utf-8"
    )
    place.start("--name", "q1", "--template", "pci-dss")
    place.decide("keep", "--principal", "*")
    refused = place.run("close", "--by", "ana", code=1).stderr
    for says in ("7.2.5.1: the frequency is missing", "(12.3.1) is missing", "acknowledgement"):
        assert says in refused
    place.start(
        "--name", "q2", "--template", "pci-dss", "--frequency", "90", "--risk-analysis", "TRA-7"
    )
    place.decide("keep", "--principal", "*", "--review", "q2")
    place.run("close", "--review", "q2", "--by", "ana", "--acknowledged-by", "Carla")
    page = (place.reviews / "q2" / "evidence.html").read_text(encoding="utf-8")
    for says in ("7.2.5.1", "90 days", "TRA-7", "Carla acknowledges for the management"):
        assert says in page
    refused = place.run("close", "--review", "q1", "--by", "a", "--open-as", "keep", code=2).stderr
    assert "open items cannot be kept" in refused


def test_a_sheet_goes_out_and_comes_back(place, tmp_path):
    place.start("--name", "q1")
    file = tmp_path / "out.csv"
    place.run("export", "--output", file)
    rows = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    for row in rows:
        row |= {"decision": "keep", "reason": "fine"}
    rows[0]["digest"] = "0" * 16
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    file.write_text(out.getvalue(), encoding="utf-8")
    refused = place.run("import", file, "--by", "bob", code=2).stderr
    assert "1 row is broken, so nothing was imported" in refused
    assert "line 2: the digest" in refused
    assert all(i["state"] == "open" for i in place.items())
    told = place.run("import", file, "--by", "bob", "--skip-broken", code=1).stderr
    assert f"{len(rows) - 1} decisions added to review q1" in told
    again = place.run("import", file, "--by", "bob", "--skip-broken", code=1).stderr
    assert "0 decisions added" in again


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("decide", "keep", "--reason", "x", "--by", "b"), "Pass either ITEMs, or --owner"),
        (("decide", "ffffff", "keep", "--reason", "x", "--by", "b"), "has no item 'ffffff'"),
        (("decide", "keep", "--owner", "no", "--reason", "x", "--by", "b"), "No item matches"),
        (("decide", "keep", "--owner", "", "--reason", " ", "--by", "b"), "needs a reason"),
        (("show", "--review", "q9"), "has no review 'q9'. It has: q1."),
        (("start", "--by", "a", "--name", "q1"), "The review q1 exists already"),
        (("start", "--by", "a", "--name", "../x"), "Invalid name '../x'"),
        (("start", "--by", " "), "needs a name"),
        (("close", "--by", "a", "--reviews", "s3://b/x"), "--reviews needs a local folder"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(place, words, says):
    place.start("--name", "q1")
    assert says in place.run(*words, code=2).stderr


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("o.csv", "principal,who\nUser:a,x\n", "expected a column owner"),
        ("o.csv", "owner\nx\n", "expected a column principal, resource or both"),
        ("o.csv", "principal,owner,class\nUser:a,x,robot\n", "row 1: unknown class 'robot'"),
        ("o.toml", '[[owner]]\nprincipal = "a"\nonwer = "x"\n', "[[owner]] 1: onwer: expected"),
        ("o.toml", "owners = 1\n", "unknown owners"),
    ],
)
def test_a_broken_file_of_owners_is_refused(place, tmp_path, name, content, says):
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    refused = place.run("start", "--by", "a", "--owners", file, code=2).stderr
    assert says in refused
    assert not place.reviews.exists()


def test_owners_may_be_toml(place, tmp_path):
    place.owners = tmp_path / "owners.toml"
    place.owners.write_text('[[owner]]\nprincipal = "*"\nowner = "all"\n', encoding="utf-8")
    place.start("--name", "q1")
    assert {i["owner"] for i in place.items()} == {"all"}


def test_reviews_are_listed_with_what_is_open(place):
    assert "No review was started yet." in place.run("list").stdout
    place.start("--name", "q1")
    place.close_all()
    place.start("--name", "q2")
    rows = json.loads(place.run("list", "--format", "json").stdout)
    assert [(row["review"], row["state"]) for row in rows] == [("q1", "closed"), ("q2", "open")]
    assert rows[0]["open"] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_ends_with_4(place):
    place.reviews.mkdir(mode=0o500)
    place.start(code=4)


def test_maintenance_keeps_what_open_reviews_pin_and_fails_closed(place, tmp_path, monkeypatch):
    kept = []

    def maintained(*_, pinned, **__):
        kept.append(pinned)
        return []

    monkeypatch.setattr("aclkit.cli.maintain.maintain", maintained)
    call = ("--warehouse", place.warehouse, "maintain")
    run(*call)
    place.start("--name", "q1")
    run(*call)
    elsewhere = tmp_path / "elsewhere"
    shutil.move(place.reviews, elsewhere)
    run(*call)
    run(*call, "--reviews", elsewhere)
    assert kept == [frozenset(), frozenset("r"), frozenset(), frozenset("r")]
    review = elsewhere / "q1" / "review.json"
    review.write_text(review.read_text(encoding="utf-8").replace("ana", "eve"), encoding="utf-8")
    assert "damaged or was changed" in run(*call, "--reviews", elsewhere, code=3).stderr
    refused = run(*call, "--reviews", tmp_path / "none", code=2).stderr
    assert "this folder does not exist" in refused
    assert len(kept) == 4


def test_a_closed_review_pins_nothing(place, monkeypatch):
    kept = []
    monkeypatch.setattr(
        "aclkit.cli.maintain.maintain", lambda *_, pinned, **__: kept.append(pinned) or []
    )
    place.start("--name", "q1")
    place.close_all()
    run("--warehouse", place.warehouse, "maintain")
    assert kept == [frozenset()]


def test_use_of_the_authorizer_log_is_shown_with_an_item(place):
    asked = Request(
        principal="User:alice", host="10.0.0.1", operation="READ", resource_type="TOPIC",
        resource_name="payments",
    )  # fmt: skip
    small.build_with_log(place.warehouse, used=[asked])
    place.start("--name", "q1")
    known = {i["usage"] for i in place.items()}
    unused = "not used from 2026-12-01 to 2027-03-01 (90 days, log of the broker and of the "
    assert known == {"last used on 2027-03-01, log /logs/broker-1.log", f"{unused}controllers)"}
    assert "last used on 2027-03-01" in place.run("show").stdout
    place.start("--name", "q2", "--brokers", 2)
    said = {i["usage"].partition(" but for")[0] for i in place.items("q2")}
    assert "use unknown: The cluster has 2 brokers," in said


def test_a_configured_folder_is_for_reviews_and_maintenance_but_never_for_serve(place, tmp_path):
    elsewhere, config = tmp_path / "elsewhere", tmp_path / "aclkit.toml"
    place.start("--name", "q1", "--reviews", elsewhere)
    config.write_text(
        f'warehouse = "{place.warehouse}"\nreviews = "{elsewhere}"\n', encoding="utf-8"
    )
    assert "q1" in run("--config", config, "review", "list").stdout
    options = {words: command.options for words, command in read_index().items()}
    assert "reviews" in options["maintain"]
    assert "reviews" not in options["serve"]
    config.write_text(f'[serve]\nreviews = "{elsewhere}"\n', encoding="utf-8")
    assert "unknown key reviews" in run("--config", config, "serve", code=2).stderr


def test_a_warehouse_in_a_bucket_needs_a_folder_for_its_reviews():
    refused = run("--warehouse", "s3a://bucket/acls", "review", "list", code=2).stderr
    assert "Reviews are kept in a local folder. Pass --reviews DIR." in refused


def test_once_the_pinned_run_is_gone_verify_notes_that_settings_are_the_evidences(place):
    place.start("--name", "q1")
    evidence = place.close_all()
    versions = small.build(place.warehouse.with_name("later"), ACLS)
    shutil.rmtree(place.warehouse)
    place.warehouse = place.warehouse.with_name("later")
    shutil.rmtree(place.warehouse / "job_run")
    small.publish(place.warehouse, versions, run_number=7, run_id="later")
    text = " ".join(place.run("verify", evidence).stdout.split())
    assert "Sound and reproduced" in text
    assert "Run 1 is no longer in the warehouse" in text
    assert "The warehouse knows other settings of the brokers for that time." in text


def test_the_page_of_the_evidence_has_class_need_reason_and_script_of_nobody(place):
    place.start("--name", "q1")
    place.decide("keep", "--principal", HOSTILE)
    evidence = place.close_all()
    page = evidence.with_suffix(".html").read_text(encoding="utf-8")
    for says in ("Class: application.", "Business need: cards.", "checked", "bob"):
        assert says in page
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "default-src &#39;none&#39;" in page
    assert json.loads(evidence.read_text(encoding="utf-8"))["hash"] in page
