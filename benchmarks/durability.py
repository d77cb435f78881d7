"""What is lost when a part is killed: `python -m benchmarks.durability --data-dir DIR --part postgres --trials 20`.

Run it against an installation of its own (`BRAIN_DATA_DIR=DIR make run`): eight writers capture through REST, one part
is killed with SIGKILL at a random moment, the writers go on until it has healed. Then every capture that was
acknowledged must be there once. Bounded in time and count; talks to this machine only; prints one line of JSON.
"""

import argparse
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

PARTS = ("postgres", "valkey", "web", "worker", "beat")
WRITERS = 8
BEFORE_SECONDS = (0.3, 1.5)
AFTER_SECONDS = 3.0
REQUEST_SECONDS = 10.0
PAGES = 10_000


@dataclass(slots=True)
class Tally:
    """`worst_gap_s`: the longest time in which no capture was acknowledged, which is how long it took to heal."""

    part: str
    trials: int = 0
    acknowledged: int = 0
    refused: int = 0
    lost: int = 0
    doubled: int = 0
    worst_gap_s: float = 0.0
    gaps_s: list[float] = field(default_factory=list)


class Installation:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        ready = json.loads((data_dir / "ready.json").read_text())
        self.host = urlsplit(ready["url"]).netloc
        self.key = ready["person_key"]

    def pid(self, part: str) -> int:
        return int(json.loads((self.data_dir / "run" / f"{part}.json").read_text())["pid"])

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, object]]:
        """Status and answer; 0 when there is no answer at all."""
        connection = http.client.HTTPConnection(self.host, timeout=REQUEST_SECONDS)
        try:
            text = None if body is None else json.dumps(body)
            sent = {"x-brain-key": self.key, "content-type": "application/json", **headers}
            connection.request(method, path, body=text, headers=sent)
            response = connection.getresponse()
            raw = response.read()
            return response.status, json.loads(raw) if raw else {}
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return 0, {}
        finally:
            connection.close()

    def contents(self, tag: str) -> Counter[str]:
        """How often each captured text is there."""
        found: Counter[str] = Counter()
        path = f"/api/v1/thoughts/?scope=personal&limit=100&tag={tag}"
        cursor = ""
        for _ in range(PAGES):
            status, page = self.call("GET", path + (f"&cursor={cursor}" if cursor else ""))
            assert status == http.client.OK, (status, page)
            results = page["results"]
            assert isinstance(results, list)
            found.update(str(row["content"]) for row in results)
            cursor = str(page["next_cursor"] or "")
            if not cursor:
                return found
        raise AssertionError("too many pages")


def trial(brain: Installation, part: str, tally: Tally) -> None:
    """One kill under load, then the books."""
    tag = f"trial-{uuid.uuid4().hex[:12]}"
    acknowledged: list[str] = []
    times: list[float] = []
    refused: list[str] = []
    stop = threading.Event()

    def write(writer: int) -> None:
        number = 0
        while not stop.is_set():
            content = f"{tag} writer {writer} number {number}"
            status, _ = brain.call(
                "POST",
                "/api/v1/thoughts/",
                {"content": content, "tags": [tag]},
                **{"idempotency-key": content.replace(" ", "-")},
            )
            if status in (http.client.OK, http.client.CREATED):
                acknowledged.append(content)
                times.append(time.monotonic())
                number += 1
            else:  # the same capture again, with the same key: it must not be there twice
                refused.append(content)
                stop.wait(0.05)

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in writers:
        thread.start()
    time.sleep(random.uniform(*BEFORE_SECONDS))  # noqa: S311  (no secret)
    os.kill(brain.pid(part), signal.SIGKILL)
    time.sleep(AFTER_SECONDS)
    stop.set()
    for thread in writers:
        thread.join()
    there = brain.contents(tag)
    ordered = sorted(times)
    gap = max((b - a for a, b in pairwise(ordered)), default=AFTER_SECONDS)
    tally.trials += 1
    tally.acknowledged += len(acknowledged)
    tally.refused += len(refused)
    tally.lost += sum(1 for content in acknowledged if there[content] == 0)
    tally.doubled += sum(1 for content in there if there[content] > 1)
    tally.gaps_s.append(round(gap, 2))
    tally.worst_gap_s = max(tally.gaps_s)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--part", choices=PARTS, default="postgres")
    parser.add_argument("--trials", type=int, default=20, choices=range(1, 201), metavar="1..200")
    options = parser.parse_args(arguments)
    brain, tally = Installation(options.data_dir), Tally(options.part)
    for _ in range(options.trials):
        trial(brain, options.part, tally)
    print(json.dumps(asdict(tally)))
    return 0 if tally.lost == tally.doubled == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
