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
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")

import django

django.setup()

import psutil
from django.core.management import call_command
from django.db import connection

from accounts.actor import Actor
from accounts.models import Organization, User
from accounts.people import person_actor
from benchmarks.data import Question, read_questions, sha256
from memory import embedding
from memory.recall import recall
from memory.types import Hit

KS = (1, 3, 5, 10, 20)
SETS = {"locomo": "turn", "beam100k": "turn", "lifebench": "session", "longmemeval": "session"}
FOLDERS = {"longmemeval": "longmemeval_lite20"}


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


def import_set(path: Path, organization: str) -> float:
    """Seconds until everything is kept and embedded."""
    started = time.monotonic()
    call_command("import", str(path), person_per_conversation=organization)
    return time.monotonic() - started


def actors_of(organization: str) -> dict[str, Actor]:
    """Conversation id (lower case) → the person whose brain it is."""
    found = Organization.objects.get(slug=organization)
    people = User.objects.filter(memberships__organization=found)
    return {person.email.partition("@")[0]: person_actor(person, found.id, source="benchmark") for person in people}


def unit_of(hit: Hit, unit: str) -> str:
    own = next(m for m in hit.messages or () if m.position == hit.first_message)
    return str(own.details["id"]) if unit == "turn" else hit.id.hex


def ask(
    actor: Actor, question: Question, unit: str, sessions: dict[str, str]
) -> tuple[list[str], dict[str, float], float]:
    """Units in rank order, milliseconds a stage, processor milliseconds without the question's embedding."""
    embedding.embedder().embed_query(question.text)  # remembered: the next call costs nothing
    before = time.process_time()
    answer = recall(actor, question.text, scope="personal", limit=20, threshold=0.0, mode="auto", with_messages=True)
    spent = (time.process_time() - before) * 1_000
    units = [unit_of(hit, unit) for hit in answer.hits]
    units = units if unit == "turn" else [sessions[u] for u in units]
    return list(dict.fromkeys(units)), dict(answer.trace.stages_ms), spent


def sessions_of(actors: dict[str, Actor]) -> dict[str, str]:
    """Recall file → the benchmark's session id."""
    from memory.models import RecallFile

    found: dict[str, str] = {}
    for actor in actors.values():
        with actor.session():
            rows = RecallFile.objects.visible_to(actor).values_list("id", "metadata")
            found |= {row_id.hex: str(metadata.get("session")) for row_id, metadata in rows}
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


def run(data: Path, name: str, limit: int | None) -> dict[str, Any]:
    folder, unit = data / FOLDERS.get(name, name), SETS[name]
    organization = f"benchmark-{name}"
    conversations = folder / "conversations.jsonl"
    import_seconds = import_set(conversations, organization)
    actors = actors_of(organization)
    questions = read_questions(folder / "questions.jsonl", unit=unit)[:limit]
    remember_query_vectors()
    sessions = sessions_of(actors) if unit == "session" else {}
    ranked: list[list[str]] = []
    stages: dict[str, list[float]] = defaultdict(list)
    spent: list[float] = []
    backend = backend_seconds()
    for question in questions:
        units, milliseconds, processor = ask(actors[question.conversation.lower()], question, unit, sessions)
        ranked.append(units)
        spent.append(processor)
        for stage, value in milliseconds.items():
            stages[stage].append(value)
    after = backend_seconds()
    categories = sorted({question.category for question in questions})
    by_category = {
        category: asdict(
            score(
                [units for units, q in zip(ranked, questions, strict=True) if q.category == category],
                [q for q in questions if q.category == category],
            )
        )
        for category in categories
    }
    return {
        "set": name,
        "unit": unit,
        "embedder": embedding.embedder().name,
        "commit": _commit(),
        "python": platform.python_version(),
        "data_sha256": sha256(conversations),
        "import_seconds": round(import_seconds, 2),
        "all": asdict(score(ranked, questions)),
        "by_category": by_category,
        "processor_ms_median": round(statistics.median(spent), 3),
        "processor_ms_mean": round(statistics.fmean(spent), 3),
        "backend_processor_ms_mean": (
            round((after - backend) * 1_000 / len(questions), 3) if backend is not None and after is not None else None
        ),
        "wall_ms_median": {stage: round(statistics.median(values), 3) for stage, values in stages.items()},
    }


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
    head = "".join(f"{f'{kind}@{k}':>10}" for kind in ("any", "all", "share") for k in (5, 10))
    print(f"{'':28}{'n':>6}{head}{'MRR':>8}")
    for label, row in [("all", report["all"]), *report["by_category"].items()]:
        cells = "".join(f"{row[f'{kind}_at'][k]:>10.3f}" for kind in ("any", "all", "share") for k in (5, 10))
        print(f"{label[:28]:28}{row['n']:>6}{cells}{row['mrr']:>8.3f}")
    stages = ", ".join(f"{name} {value}" for name, value in report["wall_ms_median"].items())
    print(f"import with vectors {report['import_seconds']} s; wall ms a stage (median): {stages}")
    print(
        f"processor ms a search without the question's embedding: {report['processor_ms_mean']} mean, "
        f"{report['processor_ms_median']} median; its Postgres backend {report['backend_processor_ms_mean']} mean"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a set")
    parser.add_argument("--set", choices=SETS, required=True, dest="name")
    parser.add_argument("--questions", type=int, help="ask only the first N")
    parser.add_argument("--json", type=Path, help="write the report here too")
    options = parser.parse_args(arguments)
    report = run(options.data, options.name, options.questions)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print_report(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
