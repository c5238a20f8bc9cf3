"""The number of an ACL is found again in its precedence, up to the most that are decided."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from aclkit.errors import DataError
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.pipeline.explain.best import MOST_ACLS, acl_no_of, best_acls, better_allow
from aclkit.pipeline.explain.deciding import decide_all
from aclkit.pipeline.explain.frames import OPERATIONS
from aclkit.pipeline.explain.scope import Scope
from aclkit.pipeline.inventory.survey import Inventory, Texts


def test_an_acls_number_stands_in_its_precedence_up_to_the_last_one(spark):
    rows = [(False, MOST_ACLS, MOST_ACLS, [0] * OPERATIONS), (True, 1, 2, [7] * OPERATIONS)]
    acls = spark.createDataFrame(
        rows, "is_allow BOOLEAN, first_no INT, acl_no INT, answers ARRAY<INT>"
    )
    best = acls.agg(*best_acls(KIP_1042)).select(
        "deny0", acl_no_of(F.col("deny0")), acl_no_of(F.col("allow0"))
    )
    ((deny, deny_no, allow_no),) = best.collect()
    assert (deny_no, allow_no) == (MOST_ACLS, 2)
    assert deny < 1 << 62


@pytest.mark.parametrize(("semantics", "better"), [(KIP_1042, 1), (KAFKA, 2)])
def test_of_two_allows_aclkit_names_the_first_and_the_broker_the_last(spark, semantics, better):
    row = spark.createDataFrame([(1, 2, None)], "one BIGINT, other BIGINT, none BIGINT")
    one, other, none = map(F.col, row.columns)
    found = row.select(better_allow(one, other, semantics), better_allow(none, one, semantics))
    assert tuple(found.first()) == (better, 1)


def test_more_acls_than_can_be_told_apart_are_refused_before_anything_is_read():
    texts = Texts(
        patterns=(("TOPIC", "LITERAL", "a"),),
        principals=("User:a",),
        hosts=("*",),
        counts=(MOST_ACLS + 1,),
    )
    none = Inventory(principals=(), hosts=(), resources=(), notes=())
    scope = Scope(
        cluster_id="c", texts=texts, inventory=none, semantics=KIP_1042, super_users=frozenset()
    )
    with pytest.raises(DataError, match="268,435,456"):
        decide_all(scope, pytest.fail, None, allow_everyone=False)
