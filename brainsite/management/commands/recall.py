"""`manage.py recall "…"`: find memories and say why."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from accounts.actor import Actor
from brainsite.management.answers import write_answer
from brainsite.management.base import PersonCommand
from memory.memories import Filters
from memory.recall import recall


class Command(PersonCommand):
    help = "Find the memories that answer a question, with the reasons."
    default_scope = "both"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query", nargs="*", help="the question")
        parser.add_argument("--limit", type=int, default=10)
        parser.add_argument("--threshold", type=float, default=0.5)
        parser.add_argument("--mode", default="auto", choices=["auto", "exhaustive"])
        parser.add_argument("--node", help="only what is filed there: an id or a path")
        parser.add_argument("--session", help="a name for what belongs together (default: your last half hour)")

    def run(self, actor: Actor, **options: Any) -> None:
        answer = recall(
            actor,
            self.text_from(options["query"]),
            scope=options["scope"],
            limit=options["limit"],
            threshold=options["threshold"],
            mode=options["mode"],
            session=options["session"],
            filters=Filters(node=options["node"]),
        )
        if options["json"]:
            self.print_json(asdict(answer))
            return
        write_answer(answer, self.stdout.write)
