"""`manage.py recall "…"`: find memories and say why."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from accounts.actor import Actor
from brainsite.management.base import PersonCommand
from memory.memories import Filters
from memory.recall import recall

SHOWN_CHARACTERS = 300


class Command(PersonCommand):
    help = "Find the memories that answer a question, with the reasons."
    default_scope = "both"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query", nargs="*", help="the question")
        parser.add_argument("--limit", type=int, default=10)
        parser.add_argument("--threshold", type=float, default=0.5)
        parser.add_argument("--mode", default="auto", choices=["auto", "exhaustive"])
        parser.add_argument("--node")

    def run(self, actor: Actor, **options: Any) -> None:
        answer = recall(
            actor,
            self.text_from(options["query"]),
            scope=options["scope"],
            limit=options["limit"],
            threshold=options["threshold"],
            mode=options["mode"],
            filters=Filters(node=options["node"]),
        )
        if options["json"]:
            self.print_json(asdict(answer))
            return
        signals = {str(s["entry_id"]): s for s in answer.trace.scores}
        for place, hit in enumerate(answer.hits, 1):
            meaning = "no vector yet" if hit.similarity is None else f"similarity {hit.similarity:.2f}"
            words = signals[str(hit.entry_id)].get("words", 0.0)
            text = " ".join(hit.text.split())
            short = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"
            self.stdout.write(f"{place}. {short}")
            self.stdout.write(
                f"   {hit.occurred_at:%Y-%m-%d}  {hit.scope}  {hit.node.path}  {hit.recall_id}#{hit.first_message}"
                f"  score {hit.score:.2f} ({meaning}, words {float(words):.1f})"
            )
        trace = answer.trace
        for missing in trace.not_used:
            self.stdout.write(f"not used: {missing}")
        self.stdout.write(
            f"{len(answer.hits)} hits from {', '.join(trace.scopes_searched)}: {trace.entries_read:,} of "
            f"{trace.entries_total:,} entries read, {trace.cut_by_threshold} cut by the threshold, "
            + ", ".join(f"{name} {ms:.1f} ms" for name, ms in trace.stages_ms.items())
        )
