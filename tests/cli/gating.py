"""What tests of preview apply share: a cluster, files that change it, and the command."""

from __future__ import annotations

import json

from tests.cli.running import run
from tests.factories import acl
from tests.kafka.desired.terraform_files import acl as tf
from tests.kafka.desired.terraform_files import resource

ANN = acl("orders", principal="User:ann")
BOB = acl("pay.eu", principal="User:bob")
DENY = acl("pay.", pattern_type="PREFIXED", principal="User:bob", permission_type="DENY",
           operation="ALL")  # fmt: skip
CLUSTER = (ANN, BOB, DENY)
KNOWN = ("--no-super-users", "--no-allow-everyone")
CSV = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
ANN_READS = "User:ann,Topic,LITERAL,orders,Read,Allow,*\n"
ANN_READS_MORE = "User:ann,Topic,LITERAL,invoices,Read,Allow,*\n"
WATCH = '[[watch]]\nname = "pay"\nresources = "topic:pay.*"\n'
USERS = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata: {name: ann, labels: {strimzi.io/cluster: main}}
spec:
  authorization:
    type: simple
    acls:
      - {resource: {type: topic, name: orders}, operations: [Read]}
      - {resource: {type: topic, name: invoices}, operations: [Read]}
"""
LOSSES = {
    "gap": [resource("kafka_acl.a", "delete,create", tf(), tf())],
    "removed-by-its-own-replacement": [resource("kafka_acl.a", "create,delete", tf(), tf())],
    "removed-though-kept-by-another": [
        resource("kafka_acl.a", "delete", tf(), None),
        resource("kafka_acl.b", "no-op", tf(), tf()),
    ],
    "undefined-order": [
        resource("kafka_acl.a", "delete", tf(), None),
        resource("kafka_acl.b", "create", None, tf()),
    ],
}


def apply(*words, code=0, base="now.txt"):
    return run("preview", "apply", *words, "--base", base, *KNOWN, code=code)


def applied(*words, **more):
    return json.loads(apply(*words, "--format", "json", **more).stdout)


def verdict(*words, **more):
    return applied(*words, **more)["gate"]["verdict"]
