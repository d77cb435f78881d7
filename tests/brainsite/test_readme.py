"""The README's own lines do what it says."""

import re
import shlex
from pathlib import Path

from memory.work import work_jobs
from tests.brainsite.test_commands import out
from tests.cast import Cast

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_first_capture_is_found_by_words_at_once_and_by_meaning_a_little_later(cast: Cast) -> None:
    lines = re.findall(r"^\.venv/bin/python manage\.py (.*)$", README.read_text(), flags=re.MULTILINE)
    capture, by_words, by_meaning = (shlex.split(line) for line in lines[:3])
    out(*capture)
    assert f"1. {capture[1]}" in out(*by_words).splitlines()
    work_jobs(30.0)
    assert f"1. {capture[1]}" in out(*by_meaning).splitlines()
