"""How well and how cheaply memories of one set are found: `python -m benchmarks.recall --data DIR --set NAME`.

Goes through the product's own import and recall verbs on the running installation (`make run`). How to read the
figures: docs/benchmarks.md.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.asking import remember_query_vectors
from benchmarks.brains import FILINGS
from benchmarks.data import SETS, read_set
from benchmarks.measure import measure
from benchmarks.options import parser
from benchmarks.tables import set_report


def main(arguments: Sequence[str] | None = None) -> int:
    made = parser(__doc__)
    made.add_argument("--set", choices=SETS, required=True, dest="name")
    made.add_argument("--pooled", action="store_true", help="all conversations in the brain of one person")
    made.add_argument("--filing", choices=FILINGS, default="import", help="single: session by session, with --pooled")
    made.add_argument("--ablate", action="store_true", help="also with each weight of the ranking at 0 in turn")
    made.add_argument("--json", type=Path, help="write the report here too")
    made.add_argument("--markdown", type=Path, help="write the printed tables here too")
    options = made.parse_args(arguments)
    if options.filing == "single" and not options.pooled:
        made.error("--filing single needs --pooled")
    remember_query_vectors()
    with tempfile.TemporaryDirectory() as work:
        data = read_set(options.data, options.name, every=options.every, work=Path(work))
        if data is None:
            made.error(f"--data: no {options.name} in {options.data}")
        report = measure(data, pooled=options.pooled, every=options.every, filing=options.filing, ablate=options.ablate)
    text = set_report(report)
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
