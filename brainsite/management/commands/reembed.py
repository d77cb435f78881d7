"""`manage.py reembed`: vectors of the current embedding model for all memories that have none, with progress."""

import time
from collections import Counter
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from tqdm import tqdm

from memory.providers import EmbedderUnavailable
from memory.reembed import embedding_jobs_left, reembed

POLL_SECONDS = 1.0


class Command(BaseCommand):
    help = "After another embedding model was chosen: embed what has no vectors of it. Stop it and run it again freely."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-wait", action="store_true", help="do not wait until everything is embedded")

    def handle(self, *args: Any, **options: Any) -> None:
        counts: Counter[tuple[UUID, str]] = Counter()
        try:
            for asked in reembed():
                key = (asked.brain.id, str(asked.brain.scope))
                counts[key] += asked.count
                self.stdout.write(f"{key[1]} brain {key[0]}: {counts[key]:,} memories to embed")
            if not options["no_wait"]:
                self._wait()
        except EmbedderUnavailable as error:
            raise CommandError(f"The embedding model does not work: {error}") from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. The worker goes on; run it again to watch.", returncode=130) from None
        except OperationalError as error:
            raise CommandError("The database does not answer. Start Brain with `make run`.") from error
        self.stdout.write(f"{sum(counts.values()):,} memories in {len(counts):,} brains had no vectors of this model")

    def _wait(self) -> None:
        total = left = embedding_jobs_left()
        with tqdm(total=total, unit="memory", desc="embedding") as bar:
            while left:
                time.sleep(POLL_SECONDS)
                left = embedding_jobs_left()
                bar.update(max(0, total - left - bar.n))
