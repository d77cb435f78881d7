"""What Postgres does for a search: every statement takes the rows of its own brains by an index, among many others."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from accounts.actor import Actor
from accounts.keys import find_key
from accounts.people import actor_for_key
from accounts.walls import TENANT_TABLES
from benchmarks.crowd import COPIED, copy_brain
from memory.capture import capture, capture_bulk
from memory.corpus import forget_all
from memory.erase import trash
from memory.memories import Filters
from memory.recall import recall
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import chat, thought

QUIET = 30.0
BRAINS = 600  # of others: the smallest table of a search has one row for each
TABLES = {table.name for table in TENANT_TABLES}
OTHER_WAYS = "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off"


@pytest.fixture
def crowded(cast: Cast) -> Cast:
    """Ann's two brains beside the brains of many others."""
    ann = cast.ann.actor
    texts = [f"the zorkmid number {n} lies under the stairs" for n in range(6)]
    capture_bulk(ann, scope="personal", files=[thought(text, node="Coins/Old", tags=("coins",)) for text in texts])
    capture_bulk(ann, scope="personal", files=[chat(*(f"quagga {n} in the attic" for n in range(6)))])
    capture_bulk(ann, scope="corporate", files=[thought(f"zorkmid {n} of the firm", node="Firm") for n in range(6)])
    work_jobs(QUIET)
    copy_brain(ann.brain_to_write("personal").id, cast.acme.id, BRAINS)
    with connections["migrator"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_removedentry (id, brain_id, scope, entry_id, revision) "
            "SELECT gen_random_uuid(), brain.id, brain.scope, gen_random_uuid(), number "
            "FROM accounts_brain brain, generate_series(1, 5) number"
        )
        cursor.execute(f"ANALYZE {', '.join(COPIED)}, memory_removedentry")
    return cast


def agent_of(cast: Cast) -> Actor:
    key = find_key(cast.key_of("context"))
    assert key is not None
    return actor_for_key(key)


def sent_by(actor: Actor, search: Callable[[], object]) -> list[tuple[str, Any]]:
    """The statements of a search that read, with their parameters."""
    sent: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("SELECT"):
            sent.append((sql, params))
        return execute(sql, params, many, context)

    with connections[actor.alias].execute_wrapper(note):
        search()
    return sent


def plan_of(actor: Actor, sql: str, params: Any, *, first: str = "") -> dict[str, Any]:
    """As the actor's role, run to its end."""
    with actor.session(), connections[actor.alias].cursor() as cursor:
        if first:
            cursor.execute(first)
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
        (found,) = cursor.fetchone()
    parsed = json.loads(found) if isinstance(found, str) else found
    return dict(parsed[0]["Plan"])


def steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from steps(below)


def rows_of(actor: Actor, table: str) -> int:
    """All that the actor may read of a table."""
    with actor.session(), connections[actor.alias].cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])


def faults_of(actor: Actor, plan: dict[str, Any]) -> list[str]:
    """Where a plan takes rows without an index of their brain, or more rows than the actor may read."""
    found = []
    for step in steps(plan):
        table = step.get("Relation Name")
        if table not in TABLES:
            continue
        by_index = [each for each in steps(step) if "brain_id" in each.get("Index Cond", "")]
        if not by_index:
            found.append(f"{table}: {step['Node Type']}")
        removed = step.get("Rows Removed by Filter", 0) + step.get("Rows Removed by Index Recheck", 0)
        if step["Actual Rows"] + removed > rows_of(actor, table):
            found.append(f"{table}: reads rows of others")
    return found


def tables_of(plans: list[dict[str, Any]]) -> set[str]:
    return {step["Relation Name"] for plan in plans for step in steps(plan) if step.get("Relation Name") in TABLES}


def test_a_search_reads_the_rows_of_its_own_brains_by_their_index(crowded: Cast) -> None:
    ann, agent = crowded.ann.actor, agent_of(crowded)
    forget_all()
    first = sent_by(ann, lambda: recall(ann, "Where is the zorkmid?", threshold=0, with_messages=True))
    memory = capture(ann, content="the zorkmid rolls away").memory
    capture(ann, content="the quagga sleeps")
    warm = sent_by(ann, lambda: recall(ann, "Where is the zorkmid?", threshold=0))
    trash(ann, str(memory.id))
    filtered = Filters(node="Coins", tags=("coins",), category="thought")
    narrowed = sent_by(ann, lambda: recall(ann, "zorkmid", threshold=0, filters=filtered, scope="personal"))
    forget_all()
    shared = sent_by(agent, lambda: recall(agent, "Where is the zorkmid?", scope="corporate", threshold=0))
    plans = [plan_of(ann, sql, params) for sql, params in (*first, *warm, *narrowed)]
    assert [fault for plan in plans for fault in faults_of(ann, plan)] == []
    others = [plan_of(agent, sql, params) for sql, params in shared]
    assert [fault for plan in others for fault in faults_of(agent, plan)] == []
    assert tables_of(others) == tables_of(plans) - {"memory_removedentry"}
    assert tables_of(plans) == {
        "graph_node", "memory_corpusversion", "memory_message", "memory_ragembedding", "memory_ragentry",
        "memory_recallfile", "memory_removedentry",
    }  # fmt: skip


def test_without_indexes_the_same_statements_are_faulted(crowded: Cast) -> None:
    """What the test above looks for can be seen."""
    ann = crowded.ann.actor
    forget_all()
    sent = sent_by(ann, lambda: recall(ann, "Where is the zorkmid?", scope="personal", threshold=0))
    plans = [plan_of(ann, sql, params, first=OTHER_WAYS) for sql, params in sent]
    faults = {fault for plan in plans for fault in faults_of(ann, plan)}
    assert {f"{table}: Seq Scan" for table in tables_of(plans)} <= faults
    assert "memory_ragentry: reads rows of others" in faults
