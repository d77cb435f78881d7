"""`manage.py import PATH`: conversations from a file, with progress; again as often as you like."""

import hashlib
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from accounts.actor import Actor
from accounts.models import Organization
from accounts.people import create_organization, ensure_person, person_actor
from brainsite.management.base import PersonCommand
from memory.importers.jsonl import Conversation, Report, import_jsonl
from memory.stats import pending_messages

POLL_SECONDS = 0.5


class Command(PersonCommand):
    help = "Import conversations (JSON Lines). What is there already is recognised; bad records are reported by line."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("path", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="check and count, keep nothing")
        parser.add_argument("--no-wait", action="store_true", help="do not wait until everything is embedded")
        parser.add_argument(
            "--person-per-conversation",
            metavar="ORGANIZATION",
            help="each conversation goes to the personal brain of a person of its own in this organization, made where "
            "missing (they cannot sign in): for benchmarks",
        )

    def run(self, actor: Actor, **options: Any) -> None:
        path: Path = options["path"]
        try:
            size = path.stat().st_size
            file = path.open("rb")
        except OSError as error:
            raise CommandError(f"PATH: {error.strerror}: {path}") from error
        actors: dict[str, Actor] = {}
        organization = options["person_per_conversation"]

        def actor_for(conversation: Conversation) -> Actor:
            if organization is None:
                actors[""] = actor
                return actor
            if conversation.id not in actors:
                actors[conversation.id] = _own_person(organization, conversation)
            return actors[conversation.id]

        started = time.monotonic()
        quiet = options["json"]
        with file, tqdm(total=size, unit="B", unit_scale=True, desc="reading", disable=quiet) as bar:

            def on_progress(report: Report) -> bool:
                bar.update(report.bytes_read - bar.n)
                bar.set_postfix_str(f"{report.messages:,} messages")
                return True

            report = import_jsonl(
                file,
                scope=options["scope"],
                actor_for=actor_for,
                on_progress=on_progress,
                dry_run=options["dry_run"],
            )
        kept_seconds = time.monotonic() - started
        if not options["no_wait"] and not options["dry_run"]:
            self._wait_for_vectors(list(actors.values()), quiet)
        seconds = time.monotonic() - started
        if quiet:
            self.print_json({**asdict(report), "seconds_kept": kept_seconds, "seconds": seconds})
        else:
            for problem in report.problems:
                self.stderr.write(f"line {problem.line}: {problem.reason}")
            verb = "would keep" if options["dry_run"] else "kept"
            self.stdout.write(
                f"{verb} {report.recall_files:,} recall files with {report.messages:,} messages from "
                f"{report.conversations:,} conversations ({report.unchanged:,} were there already, "
                f"{report.problem_count:,} problems) in {kept_seconds:.1f} s, with vectors {seconds:.1f} s"
            )
        if report.problem_count:
            raise CommandError(f"{report.problem_count:,} records were left out", returncode=1)

    def _wait_for_vectors(self, actors: list[Actor], quiet: bool) -> None:
        total = sum(pending_messages(actor) for actor in actors)
        with tqdm(total=total, unit="message", desc="embedding", disable=quiet) as bar:
            while left := sum(pending_messages(actor) for actor in actors):
                bar.update(max(0, total - left - bar.n))
                time.sleep(POLL_SECONDS)
            bar.update(total - bar.n)


def _own_person(organization: str, conversation: Conversation) -> Actor:
    """The person whose life this conversation is: an address nobody can own, no password, hence no way to sign in."""
    found = Organization.objects.filter(slug=organization).first() or create_organization(organization)
    local = re.sub(r"[^a-z0-9.-]+", "-", conversation.id.lower()).strip("-.")[:50]
    if local != conversation.id.lower():  # two ids that look alike stay two people
        local = f"{local}-{hashlib.sha256(conversation.id.encode()).hexdigest()[:8]}"
    domain = re.sub(r"[^a-z0-9-]+", "-", conversation.dataset.lower()).strip("-")[:50] or "import"
    person = ensure_person(found, f"{local}@{domain}.invalid")
    return person_actor(person, found.id, source="import")
