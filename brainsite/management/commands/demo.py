"""`manage.py demo`: an invented company and a clinic next door, filled with memories, and three questions to them."""

import json
import time
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import OperationalError
from tqdm import tqdm

from accounts.actor import Actor
from accounts.errors import BrainError
from brainsite.demo.load import COMPANIES, MARA, Report, load_demo
from brainsite.management.answers import write_answer
from memory.recall import recall
from memory.stats import pending_messages

QUESTIONS = (
    "What are the memory requirements of Widget Pro?",
    "Why did customers say the Enterprise Suite is too expensive?",
    "Hey, can you tell me about that product I was looking for?",
)
HITS_SHOWN = 3
WAIT_SECONDS, POLL_SECONDS = 60.0, 0.5


class Command(BaseCommand):
    help = "Fill two invented organizations with memories to look around in, and ask them three questions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-wait", action="store_true", help="do not wait until everything is embedded")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._show(quiet=options["json"], wait_seconds=0.0 if options["no_wait"] else WAIT_SECONDS)
        except BrainError as error:
            raise CommandError(f"{error.field}: {error.message}" if error.field else error.message) from error
        except OperationalError as error:
            raise CommandError("The database does not answer. Start Brain with `make run`.") from error

    def _show(self, *, quiet: bool, wait_seconds: float) -> None:
        started = time.monotonic()
        report = load_demo()
        kept_seconds = time.monotonic() - started
        waiting = _wait_for_vectors(report.readers.values(), wait_seconds, quiet)
        seconds = time.monotonic() - started
        answers = [recall(report.actors[MARA.email], query, limit=HITS_SHOWN, mode="auto") for query in QUESTIONS]
        if quiet:
            result = {
                "organizations": [company.slug for company in COMPANIES],
                "people": list(report.actors),
                "memories": report.memories,
                "created": report.created,
                "unchanged": report.unchanged,
                "changed": report.changed,
                "messages_created": report.messages_created,
                "messages_waiting": waiting,
                "seconds_kept": kept_seconds,
                "seconds": seconds,
                "questions": [
                    {"query": query, "as": MARA.email, "answer": asdict(answer)}
                    for query, answer in zip(QUESTIONS, answers, strict=True)
                ],
            }
            self.stdout.write(json.dumps(result, cls=DjangoJSONEncoder, ensure_ascii=False))
            return
        for query, answer in zip(QUESTIONS, answers, strict=True):
            self.stdout.write(f"{MARA.name} asks: {query}")
            write_answer(answer, self.stdout.write)
            self.stdout.write("")
        for company in COMPANIES:
            for person in company.people:
                self.stdout.write(f"{person.name}, {person.role} at {company.name}: --as {person.email}")
        self.stdout.write(f'ask more: .venv/bin/python manage.py recall --as {MARA.email} "When may I call Northfen?"')
        self.stdout.write(
            f"nobody signs in as them until you say so: .venv/bin/python manage.py changepassword {MARA.email}"
        )
        if waiting:
            self.stdout.write(
                f"{waiting:,} messages have no vector yet and are found by their words only: the worker of `make run` "
                "makes them"
            )
        self.stdout.write(_summary(report, kept_seconds, seconds))


def _wait_for_vectors(readers: Collection[Actor], seconds: float, quiet: bool) -> int:
    """Wait until everything is embedded, but no longer than this; how many messages are not."""

    def pending() -> int:
        return sum(pending_messages(reader) for reader in readers)

    until = time.monotonic() + seconds
    if not (total := pending()) or not seconds:
        return total
    with tqdm(total=total, unit="message", desc="embedding", disable=quiet) as bar:
        while (left := pending()) and time.monotonic() < until:
            bar.update(max(0, total - left - bar.n))
            time.sleep(POLL_SECONDS)
        bar.update(total - left - bar.n)
    return left


def _summary(report: Report, kept_seconds: float, seconds: float) -> str:
    there = f"{report.unchanged + report.changed:,} were there already"
    if report.changed:
        there += f", {report.changed:,} of them with other words by now"
    if not report.created:
        return f"nothing new: all {there}"
    return (
        f"kept {report.created:,} memories with {report.messages_created:,} messages in {len(COMPANIES)} organizations "
        f"({there}) in {kept_seconds:.1f} s, with vectors {seconds:.1f} s"
    )
