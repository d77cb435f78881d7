"""How an answer is shown to a person at a terminal."""

from collections.abc import Callable, Sequence

from memory.types import NodeWarmth, Recall

SHOWN_CHARACTERS = 300
SHOWN_NODES = 3


def write_answer(answer: Recall, write: Callable[[str], object]) -> None:
    """The way to the memories, level by level; each hit with where it comes from and why; then what it cost."""
    trace = answer.trace
    for scope, way in trace.navigation.items():
        for level in way["levels"]:
            if likely := [node for node in level[:SHOWN_NODES] if node.confidence >= 0.01]:
                write(f"{scope}: {_nodes(likely)}")
    if answer.warmed:
        reasons = " and ".join(dict.fromkeys(str(way["reason"]) for way in trace.navigation.values()))
        cold = _nodes(answer.cold[:SHOWN_NODES]) or "nothing"
        write(f"warmed, by {reasons}: {_nodes(answer.warmed)}; left cold: {cold}")
    signals = {str(s["entry_id"]): s for s in trace.scores}
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
        if hit.why:
            write("   because of " + ", ".join(f"{r.signal} {r.gave:+.2f} (#{r.rank})" for r in hit.why))
    for block in answer.blocks:
        write(f"{block.kind}:")
        for hit in block.hits:
            write(f"   {hit.occurred_at:%Y-%m-%d}  {' '.join(hit.text.split())}")
    if answer.clarify:
        write(answer.clarify.question)
    for missing in trace.not_used:
        write(f"not used: {missing}")
    tokens = trace.tokens
    write(
        f"{len(answer.hits)} hits from {', '.join(trace.scopes_searched)}: {trace.indexes_read:,} indexes and "
        f"{trace.entries_read:,} of {trace.entries_total:,} entries read, "
        f"{trace.cut_by_threshold} cut by the threshold, about {tokens.handed_over:,} tokens "
        f"instead of {tokens.warmed_nodes:,} for the warmed nodes and {tokens.everything:,} for everything; "
        + ", ".join(f"{name} {ms:.1f} ms" for name, ms in trace.stages_ms.items())
    )


def _nodes(nodes: Sequence[NodeWarmth]) -> str:
    return ", ".join(f"{node.node.path} ({node.confidence:.2f}, {node.memory_count} memories)" for node in nodes)
