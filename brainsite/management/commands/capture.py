"""`manage.py capture "…"`: keep one thought."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.actor import Actor
from brainsite.management.base import PersonCommand
from memory.capture import capture


class Command(PersonCommand):
    help = "Keep one thought, word for word. Reads standard input when no text is given."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("content", nargs="*", help="the thought")
        parser.add_argument("--category", default="thought")
        parser.add_argument("--tag", action="append", default=[], dest="tags")
        parser.add_argument("--node", help='where to file it: an id, or a path such as "Business/Sales"')

    def run(self, actor: Actor, **options: Any) -> None:
        captured = capture(
            actor,
            content=self.text_from(options["content"]),
            scope=options["scope"],
            category=options["category"],
            tags=options["tags"],
            node=options["node"],
        )
        memory = captured.memory
        if options["json"]:
            self.print_json({"id": memory.id, "recall_id": memory.recall_id, "node": memory.node.path})
        else:
            self.stdout.write(f"kept {memory.recall_id} ({memory.id}) in {memory.scope}, filed in {memory.node.path}")
