"""How an answer is shown to a person at a terminal."""

from collections.abc import Callable

from memory.types import Recall

SHOWN_CHARACTERS = 300


def write_answer(answer: Recall, write: Callable[[str], object]) -> None:
    """Each hit with where it comes from and why it matched, then how they were found, line by line."""
    signals = {str(s["entry_id"]): s for s in answer.trace.scores}
    for place, hit in enumerate(answer.hits, 1):
        meaning = "no vector yet" if hit.similarity is None else f"similarity {hit.similarity:.2f}"
        words = signals[str(hit.entry_id)].get("words", 0.0)
        text = " ".join(hit.text.split())
        short = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"
        write(f"{place}. {short}")
        write(
            f"   {hit.occurred_at:%Y-%m-%d}  {hit.scope}  {hit.node.path}  {hit.recall_id}#{hit.first_message}"
            f"  score {hit.score:.2f} ({meaning}, words {float(words):.1f})"
        )
    trace = answer.trace
    for missing in trace.not_used:
        write(f"not used: {missing}")
    write(
        f"{len(answer.hits)} hits from {', '.join(trace.scopes_searched)}: {trace.entries_read:,} of "
        f"{trace.entries_total:,} entries read, {trace.cut_by_threshold} cut by the threshold, "
        + ", ".join(f"{name} {ms:.1f} ms" for name, ms in trace.stages_ms.items())
    )
