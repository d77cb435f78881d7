"""How well and how cheaply memories are found: `python -m benchmarks.recall --data DIR --set NAME [--json FILE]`.

Goes through the product's own import and recall verbs on the running installation (`make run`). Each conversation
becomes the personal brain of a person of its own, in an organization that is used for this benchmark only.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")

import django

django.setup()

import psutil
from django.core.management import call_command
from django.db import connection

from accounts.actor import Actor
from accounts.models import Organization, User
from accounts.people import create_organization, ensure_person, person_actor
from benchmarks.data import Question, read_questions, sha256
from graph.models import inbox_id
from memory import embedding
from memory.models import Job, Message, RagEntry, RecallFile
from memory.recall import recall
from memory.types import Hit, Recall, Tokens, Trace

KS = (1, 3, 5, 10, 20)
SETS = {"locomo": "turn", "beam100k": "turn", "lifebench": "session", "longmemeval": "session"}
FOLDERS = {"longmemeval": "longmemeval_lite20"}
POOL = "pool-of-{}@benchmark.invalid"  # for each set, since a command acts in the first organization of a person
WAIT_SECONDS, POLL_SECONDS = 1_800.0, 0.25


@dataclass(frozen=True, slots=True)
class Score:
    """Over n questions, in the first k places: some evidence, all of it, the mean share of it."""

    n: int
    any_at: dict[int, float]
    all_at: dict[int, float]
    share_at: dict[int, float]
    mrr: float


def score(ranked: Sequence[Sequence[str]], questions: Sequence[Question]) -> Score:
    found = [
        [[unit in q.evidence for unit in places[:k]].count(True) for k in KS]
        for places, q in zip(ranked, questions, strict=True)
    ]
    firsts = [
        next((1 / place for place, unit in enumerate(places, 1) if unit in q.evidence), 0.0)
        for places, q in zip(ranked, questions, strict=True)
    ]
    wanted = [len(q.evidence) for q in questions]
    mean = statistics.fmean
    return Score(
        n=len(questions),
        any_at={k: mean(row[i] > 0 for row in found) for i, k in enumerate(KS)},
        all_at={k: mean(row[i] == w for row, w in zip(found, wanted, strict=True)) for i, k in enumerate(KS)},
        share_at={k: mean(row[i] / w for row, w in zip(found, wanted, strict=True)) for i, k in enumerate(KS)},
        mrr=mean(firsts),
    )


def import_set(path: Path, organization: str, *, pooled: bool) -> dict[str, float]:
    """Seconds until everything is kept and has its vectors, and until it is filed too."""
    started = time.monotonic()
    if pooled:
        found = Organization.objects.filter(slug=organization).first() or create_organization(organization)
        ensure_person(found, POOL.format(organization))
        call_command("import", str(path), as_email=POOL.format(organization))
    else:
        call_command("import", str(path), person_per_conversation=organization)
    embedded = time.monotonic() - started
    while is_filing(organization) and time.monotonic() < started + WAIT_SECONDS:
        time.sleep(POLL_SECONDS)
    return {"embedded": round(embedded, 2), "filed": round(time.monotonic() - started, 2)}


def is_filing(organization: str) -> bool:
    for actor in actors_of(organization).values():
        with actor.session():
            jobs = Job.objects.visible_to(actor).filter(kind=Job.Kind.FILE)
            if jobs.filter(state__in=[Job.State.PENDING, Job.State.RUNNING]).exists():
                return True
    return False


def actors_of(organization: str) -> dict[str, Actor]:
    """Conversation id (lower case), or the pool's name → the person whose brain it is."""
    found = Organization.objects.get(slug=organization)
    people = User.objects.filter(memberships__organization=found)
    return {person.email.partition("@")[0]: person_actor(person, found.id, source="benchmark") for person in people}


def ask(
    actor: Actor, question: Question, unit: str, places: dict[str, tuple[str, str]], mode: str
) -> tuple[list[str], Recall, float]:
    """Units in rank order, the answer, and processor milliseconds without the question's embedding."""
    embedding.embedder().embed_query(question.text)  # remembered: the next call costs nothing
    before = time.process_time()
    answer = recall(
        actor,
        question.text,
        scope="personal",
        limit=20,
        threshold=0.0,
        mode=mode,
        session=question.id,  # each question stands alone
        with_messages=True,
    )
    spent = (time.process_time() - before) * 1_000
    units = [unit_of(hit, unit, places) for hit in answer.hits]
    return list(dict.fromkeys(units)), answer, spent


def unit_of(hit: Hit, unit: str, places: dict[str, tuple[str, str]]) -> str:
    conversation, session = places[hit.id.hex]
    own = next(m for m in hit.messages or () if m.position == hit.first_message)
    return f"{conversation}/{own.details['id'] if unit == 'turn' else session}"


def places_of(actors: dict[str, Actor]) -> dict[str, tuple[str, str]]:
    """Recall file → the benchmark's conversation and session."""
    found: dict[str, tuple[str, str]] = {}
    for actor in actors.values():
        with actor.session():
            for row_id, metadata in RecallFile.objects.visible_to(actor).values_list("id", "metadata"):
                found[row_id.hex] = (str(metadata["conversation"]), str(metadata["session"]))
    return found


def nodes_of(actors: dict[str, Actor], places: dict[str, tuple[str, str]], unit: str) -> dict[str, set[UUID]]:
    """Unit → the nodes that hold its entries."""
    found: dict[str, set[UUID]] = {}
    for actor in actors.values():
        with actor.session():
            nodes = dict(RagEntry.objects.visible_to(actor).values_list("id", "node_id"))
            for message_id, file_id, details in Message.objects.visible_to(actor).values_list(
                "id", "recall_file_id", "details"
            ):
                conversation, session = places[file_id.hex]
                name = details["id"] if unit == "turn" else session
                found.setdefault(f"{conversation}/{name}", set()).add(nodes[message_id])
    return found


def remember_query_vectors() -> None:
    """Keep the vectors of questions, so that processor time is told without the embedding of the question."""
    real = embedding.embedder()
    known: dict[str, Any] = {}
    embed = real.embed_query

    def embed_query(text: str) -> Any:
        if text not in known:
            known[text] = embed(text)
        return known[text]

    real.embed_query = embed_query  # type: ignore[method-assign]


def backend_seconds() -> float | None:
    """Processor seconds of this connection's Postgres backend, when it runs on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def run(data: Path, name: str, *, pooled: bool, every: int) -> dict[str, Any]:
    folder, unit = data / FOLDERS.get(name, name), SETS[name]
    organization = f"benchmark-{name}{'-pooled' if pooled else ''}"
    conversations = folder / "conversations.jsonl"
    import_seconds = import_set(conversations, organization, pooled=pooled)
    actors = actors_of(organization)
    questions = read_questions(folder / "questions.jsonl", unit=unit)[::every]
    remember_query_vectors()
    places = places_of(actors)
    nodes = nodes_of(actors, places, unit)
    modes = {
        mode: ask_all(mode, actors, questions, unit, places, nodes, pooled=pooled) for mode in ("auto", "exhaustive")
    }
    return {
        "set": name + (" pooled" if pooled else ""),
        "unit": unit,
        "embedder": embedding.embedder().name,
        "commit": _commit(),
        "python": platform.python_version(),
        "data_sha256": sha256(conversations),
        "import_seconds": import_seconds,
        "outside_inbox": round(outside_inbox(actors), 4),
        "modes": modes,
    }


def ask_all(
    mode: str,
    actors: dict[str, Actor],
    questions: Sequence[Question],
    unit: str,
    places: dict[str, tuple[str, str]],
    nodes: dict[str, set[UUID]],
    *,
    pooled: bool,
) -> dict[str, Any]:
    ranked: list[list[str]] = []
    traces: list[Trace] = []
    hits: list[bool] = []
    spent: list[float] = []
    backend = backend_seconds()
    for question in questions:
        actor = next(iter(actors.values())) if pooled else actors[question.conversation.lower()]
        units, answer, processor = ask(actor, question, unit, places, mode)
        ranked.append(units)
        traces.append(answer.trace)
        warm = {node.node.id for node in answer.warmed}
        hits += [bool(warm & nodes[each]) for each in question.evidence if each in nodes]
        spent.append(processor)
    after = backend_seconds()
    by_category: dict[str, Any] = {}
    for category in sorted({question.category for question in questions}):
        mine = [(units, q) for units, q in zip(ranked, questions, strict=True) if q.category == category]
        by_category[category] = asdict(score([units for units, _ in mine], [q for _, q in mine]))
    mean, median = statistics.fmean, statistics.median
    return {
        "all": asdict(score(ranked, questions)),
        "by_category": by_category,
        "routing_hit_rate": round(mean(hits), 4) if mode == "auto" else None,
        "entries_read_share": round(mean(t.entries_read / max(t.entries_total, 1) for t in traces), 4),
        "tokens": {
            name: round(median(getattr(t.tokens, name) for t in traces)) for name in Tokens.__dataclass_fields__
        },
        "processor_ms_median": round(median(spent), 3),
        "processor_ms_mean": round(mean(spent), 3),
        "backend_processor_ms_mean": (
            round((after - backend) * 1_000 / len(questions), 3) if backend is not None and after is not None else None
        ),
        "wall_ms_median": {
            stage: round(median(t.stages_ms.get(stage, 0.0) for t in traces), 3) for stage in traces[0].stages_ms
        },
    }


def outside_inbox(actors: dict[str, Actor]) -> float:
    """The share of entries that have a place in the tree."""
    filed = total = 0
    for actor in actors.values():
        with actor.session():
            entries = RagEntry.objects.visible_to(actor)
            total += entries.count()
            filed += entries.exclude(node_id__in=[inbox_id(brain.id) for brain in actor.readable]).count()
    return filed / max(total, 1)


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607  (git is where the developer has it)
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


def print_report(report: dict[str, Any]) -> None:
    print(f"{report['set']} ({report['unit']}), embedder {report['embedder']}, commit {report['commit']}")
    print(
        "vectors after {embedded} s, filed after {filed} s".format(**report["import_seconds"])
        + f"; {report['outside_inbox']:.1%} of the entries filed outside the Inbox"
    )
    for mode, found in report["modes"].items():
        head = "".join(f"{f'{kind}@{k}':>10}" for kind in ("any", "all", "share") for k in (5, 10))
        print(f"\n{mode:28}{'n':>6}{head}{'MRR':>8}")
        for label, row in [("all", found["all"]), *found["by_category"].items()]:
            cells = "".join(f"{row[f'{kind}_at'][k]:>10.3f}" for kind in ("any", "all", "share") for k in (5, 10))
            print(f"{label[:28]:28}{row['n']:>6}{cells}{row['mrr']:>8.3f}")
        stages = ", ".join(f"{name} {value}" for name, value in found["wall_ms_median"].items())
        rate = f", the evidence's node was warmed for {found['routing_hit_rate']:.1%}" if mode == "auto" else ""
        print(f"{found['entries_read_share']:.1%} of the entries read{rate}; tokens (median) {found['tokens']}")
        print(
            f"processor ms without the question's embedding: {found['processor_ms_mean']} mean, "
            f"{found['processor_ms_median']} median; its Postgres backend {found['backend_processor_ms_mean']} mean"
        )
        print(f"wall ms a stage (median): {stages}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a set")
    parser.add_argument("--set", choices=SETS, required=True, dest="name")
    parser.add_argument("--pooled", action="store_true", help="all conversations in the brain of one person")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question only")
    parser.add_argument("--json", type=Path, help="write the report here too")
    options = parser.parse_args(arguments)
    report = run(options.data, options.name, pooled=options.pooled, every=options.every)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print_report(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
