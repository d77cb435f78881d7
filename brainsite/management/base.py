"""What the commands of people share: for whom they act, and how refusals are shown."""

import json
import os
import sys
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.core.management.base import CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import OperationalError

from accounts.actor import Actor
from accounts.errors import BrainError
from accounts.models import User
from accounts.people import first_organization_of, person_actor


class PersonCommand(BaseCommand):
    """`--as EMAIL` (default: the first person) and `--scope` say for whom and where; `--json` prints for programs."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--as", dest="as_email", metavar="EMAIL", help="for whom (default: the first person)")
        parser.add_argument("--scope", default=self.default_scope, help=f"default: {self.default_scope}")
        parser.add_argument("--json", action="store_true", help="print JSON")

    default_scope = "personal"

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(self.actor(options["as_email"]), **options)
        except BrainError as error:
            raise CommandError(f"{error.field}: {error.message}" if error.field else error.message) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. What was kept is kept; run it again to go on.", returncode=130) from None
        except BrokenPipeError:  # `… | head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OperationalError as error:
            raise CommandError("The database does not answer. Start Brain with `make run`.") from error

    def run(self, actor: Actor, **options: Any) -> None:
        raise NotImplementedError

    def actor(self, email: str | None) -> Actor:
        people = User.objects.filter(is_active=True).order_by("created_at", "id")
        person = people.filter(email__iexact=email).first() if email else people.first()
        if person is None:
            raise CommandError(f"--as: nobody has the e-mail address {email}" if email else "There is no person yet.")
        return person_actor(person, first_organization_of(person), source="command")

    def print_json(self, value: Any) -> None:
        self.stdout.write(json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False))

    @staticmethod
    def text_from(words: list[str]) -> str:
        """The words given, or standard input when there are none or only `-`."""
        return sys.stdin.read() if not words or words == ["-"] else " ".join(words)
