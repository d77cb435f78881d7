"""`manage.py prepare`: roles, extension, migrations, and the first person. `up` and docker compose run it; run it again
as often as you like."""

import json
import os
import secrets
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.core.management.base import CommandParser

from accounts.keys import find_key, issue_key
from accounts.models import Membership, Organization, User
from accounts.people import create_organization, ensure_person
from accounts.roles import Passwords, prepare_cluster
from brainsite.environment import read_environment

OWNER = "owner@brain.localhost"
FIRST_ORGANIZATION = "home"


class Command(BaseCommand):
    help = "Make the database ready: roles, extension, migrations, the first organization, its owner and a key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON line: login, password, person_key")
        parser.add_argument("--owner", default=os.environ.get("BRAIN_OWNER_EMAIL") or OWNER, help="e-mail of the owner")

    def handle(self, *args: Any, **options: Any) -> None:
        env = read_environment()
        if env.database_url is None:
            raise CommandError("DATABASE_URL is not set; `manage.py up` sets it for the embedded database")
        passwords = [
            env.brain_app_password,
            env.brain_agent_password,
            env.brain_migrator_password,
            env.brain_dump_password,
        ]
        if not all(passwords) or not env.brain_key_pepper:
            raise CommandError(
                "set BRAIN_APP_PASSWORD, BRAIN_AGENT_PASSWORD, BRAIN_MIGRATOR_PASSWORD, BRAIN_DUMP_PASSWORD "
                "and BRAIN_KEY_PEPPER"
            )
        if "@" in env.database_url:  # it carries the administrator's login
            try:
                prepare_cluster(env.database_url, Passwords(*(p or "" for p in passwords)))
            except psycopg.OperationalError as error:
                raise CommandError(f"DATABASE_URL: {error}") from error
        call_command("migrate", database="migrator", interactive=False, verbosity=0)
        owner, password = self._owner(options["owner"])
        key = self._person_key(owner)
        settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        answer = {"login": owner.email, "password": password, "person_key": key}
        if options["json"]:
            self.stdout.write(json.dumps(answer))
        else:
            for name, value in answer.items():
                self.stdout.write(f"{name}: {value or '(unchanged)'}")
            self.stdout.write("ready")

    def _owner(self, email: str) -> tuple[User, str | None]:
        """The first owner, and the password while it is still the one that was made for the start."""
        given = os.environ.get("BRAIN_OWNER_PASSWORD") or None
        first = Membership.objects.filter(role=Membership.Role.OWNER).order_by("created_at", "id").first()
        if first is not None:
            return first.user, given if given and first.user.check_password(given) else None
        password = given or secrets.token_urlsafe(12)
        organization = Organization.objects.filter(slug=FIRST_ORGANIZATION).first()
        organization = organization or create_organization("Home", slug=FIRST_ORGANIZATION)
        owner = ensure_person(organization, email, role=Membership.Role.OWNER, password=password)
        User.objects.filter(id=owner.id).update(is_staff=True, is_superuser=True)
        return owner, password

    def _person_key(self, owner: User) -> str | None:
        """The key of an earlier start while it is usable, else a new one; none when the owner has others already."""
        given = os.environ.get("BRAIN_PERSON_KEY") or ""
        if given and find_key(given) is not None:
            return given
        if not given and owner.keys.exists():
            return None
        membership = owner.memberships.order_by("created_at", "id").first()
        assert membership is not None  # made with the owner
        key = issue_key(organization_id=membership.organization_id, kind="person", label="first key", user_id=owner.id)
        return key.text
