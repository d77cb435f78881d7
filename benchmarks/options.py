"""What every benchmark of recall takes on its command line."""

import argparse
from pathlib import Path


def parser(description: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--data", type=Path, required=True, help="folder with one folder a set")
    made.add_argument("--every", type=positive, default=1, metavar="N", help="ask every Nth question only")
    return made


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value
