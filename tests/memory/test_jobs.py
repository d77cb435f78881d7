from datetime import timedelta
from threading import Thread
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from accounts.actor import CLAIMER
from accounts.errors import NotFound
from memory import embedding, jobs, work
from memory.capture import append_messages, capture, capture_bulk, capture_files
from memory.embedding import embed_recall_file
from memory.erase import erase, restore, trash
from memory.jobs import Claim, claim, fail, finish, keep, sweep
from memory.memories import get_memory, list_memories
from memory.models import Job, Message, RagEmbedding, RagEntry, RecallFile, Revision, jobs_of_all_brains
from memory.providers import EmbedderUnavailable
from memory.recall import recall
from memory.types import NewMessage
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import chat

QUIET = 30.0


def jobs_of(cast: Cast) -> list[tuple[str, str, int, str]]:
    with cast.ann.actor.session() as actor:
        rows = Job.objects.visible_to(actor).order_by("created_at", "id")
        return list(rows.values_list("kind", "state", "attempts", "error"))


def expire_leases() -> None:
    with CLAIMER.session():
        jobs_of_all_brains().filter(state="running").update(lease_until=timezone.now() - timedelta(seconds=1))


def due_now() -> None:
    with CLAIMER.session():
        jobs_of_all_brains().filter(state="pending").update(run_after=timezone.now() - timedelta(seconds=1))


def claimed() -> Claim:
    job = claim()
    assert job is not None
    return job


def test_a_claim_counts_its_attempt_and_sees_one_brain(cast: Cast) -> None:
    memory = capture(cast.ann.actor, content="one").memory
    job = claimed()
    assert (job.kind, job.subject_id, job.attempts, job.fencing) == ("embed", memory.id, 1, 1)
    assert [b.id for b in job.actor.readable] == [memory.brain_id]
    assert claim() is None
    assert jobs_of(cast) == [("embed", "running", 1, "")]
    finish(job)
    assert jobs_of(cast) == [("embed", "done", 1, "")]


def test_many_claim_at_once_and_each_job_is_worked_on_once(cast: Cast) -> None:
    for number in range(12):
        capture(cast.ann.actor, content=f"thought {number}")
    taken: list[UUID] = []

    def run() -> None:
        while (job := claim()) is not None:
            taken.append(job.id)
        connections.close_all()

    threads = [Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(taken), len(set(taken))) == (12, 12)


def test_a_dead_workers_job_is_found_by_the_sweeper_and_its_late_steps_do_nothing(cast: Cast) -> None:
    capture(cast.ann.actor, content="one")
    late = claimed()
    expire_leases()
    assert sweep() == 1
    again = claimed()
    assert (again.id, again.attempts, again.fencing) == (late.id, 2, 2)
    assert not keep(late)
    finish(late)
    fail(late, "late", can_heal=False)
    assert jobs_of(cast) == [("embed", "running", 2, "The worker died.")]
    assert keep(again, {"done": 1})
    finish(again)
    assert jobs_of(cast) == [("embed", "done", 2, "")]


def test_work_that_kills_its_worker_ends_as_dead(cast: Cast) -> None:
    memory = capture(cast.ann.actor, content="poison").memory
    for _ in range(jobs.MAX_ATTEMPTS):
        assert claim() is not None
        expire_leases()
        sweep()
    assert claim() is None
    assert jobs_of(cast) == [("embed", "dead", 5, "The worker died during each attempt.")]
    assert get_memory(cast.ann.actor, str(memory.id)).embedding_state == "failed"
    capture(cast.ann.actor, content="another")
    assert work_jobs(QUIET) == 2  # embedded, then filed


def test_a_fault_is_retried_with_growing_delays_then_given_up(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    capture(cast.ann.actor, content="one")

    def broken(job: Claim) -> None:
        raise ZeroDivisionError("of the memory's words, which no row may hold")

    monkeypatch.setitem(work.HANDLERS, "embed", broken)
    states = []
    for _ in range(jobs.MAX_ATTEMPTS):
        assert work_jobs(QUIET) == 1
        states += [(state, attempts, error) for _, state, attempts, error in jobs_of(cast)]
        assert claim() is None  # not due yet
        due_now()
    assert states == [("pending", n, "ZeroDivisionError") for n in range(1, 5)] + [("dead", 5, "ZeroDivisionError")]


def test_an_embedder_that_is_away_costs_no_attempt(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = capture(cast.ann.actor, content="the zorkmid").memory

    def away(job: Claim) -> None:
        raise EmbedderUnavailable("away")

    monkeypatch.setitem(work.HANDLERS, "embed", away)
    for _ in range(jobs.MAX_ATTEMPTS + 2):
        assert work_jobs(QUIET) == 1
        due_now()
    assert jobs_of(cast) == [("embed", "pending", 0, "away")]
    monkeypatch.setitem(work.HANDLERS, "embed", embed_recall_file)
    assert work_jobs(QUIET) == 2
    assert get_memory(cast.ann.actor, str(memory.id)).embedding_state == "embedded"


def test_the_same_work_twice_changes_nothing(cast: Cast) -> None:
    capture_files(cast.ann.actor, scope="personal", files=[chat("a", "b", "c")])
    job = claimed()
    embed_recall_file(job)
    embed_recall_file(job)
    with cast.ann.actor.session() as actor:
        assert RagEmbedding.objects.visible_to(actor).count() == 3


def test_messages_that_arrive_during_the_work_are_embedded_by_their_own_job(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture_files(actor, scope="personal", files=[chat("a", "b")])[0].memory
    job = claimed()
    entry_ids, missing = embedding._missing_pieces(job, embedding.current_model())
    append_messages(actor, str(memory.id), [NewMessage("user", "c")])
    vectors = embedding.embedder().embed([piece.text for piece in missing])
    embedding._write(job, embedding.current_model(), missing, vectors, done=entry_ids)
    finish(job)
    assert get_memory(actor, str(memory.id)).embedding_state == "pending"
    assert work_jobs(QUIET) == 2
    assert get_memory(actor, str(memory.id)).embedding_state == "embedded"


def rows_of(cast: Cast, memory_id: UUID) -> dict[str, int]:
    with cast.ann.actor.session() as actor:
        entries = RagEntry.objects.visible_to(actor).filter(recall_file_id=memory_id)
        return {
            "files": RecallFile.objects.visible_to(actor).filter(id=memory_id).count(),
            "messages": Message.objects.visible_to(actor).filter(recall_file_id=memory_id).count(),
            "revisions": Revision.objects.visible_to(actor).filter(recall_file_id=memory_id).count(),
            "entries": entries.count(),
            "vectors": RagEmbedding.objects.visible_to(actor).filter(entry_id__in=entries.values("id")).count(),
        }


def test_the_trash_takes_it_out_of_everything_at_once_and_gives_it_back(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture_files(actor, scope="personal", files=[chat("the zorkmid", "yes")])[0].memory
    work_jobs(QUIET)
    assert rows_of(cast, memory.id) == {"files": 1, "messages": 2, "revisions": 0, "entries": 2, "vectors": 2}
    trash(actor, memory.recall_id)
    assert rows_of(cast, memory.id) == {"files": 1, "messages": 2, "revisions": 0, "entries": 0, "vectors": 0}
    assert recall(actor, "zorkmid").hits == ()
    assert list_memories(actor) == []
    with pytest.raises(NotFound):
        get_memory(actor, str(memory.id))
    assert [m.id for m in list_memories(actor, state="trashed")] == [memory.id]
    back = restore(actor, str(memory.id))
    assert (back.state, back.purge_after, back.embedding_state) == ("live", None, "pending")
    work_jobs(QUIET)
    assert rows_of(cast, memory.id) == {"files": 1, "messages": 2, "revisions": 0, "entries": 2, "vectors": 2}
    assert recall(actor, "zorkmid", limit=1).hits[0].id == memory.id


def test_erasing_leaves_no_row(cast: Cast) -> None:
    memory = capture(cast.ann.actor, content="the zorkmid").memory
    with pytest.raises(NotFound):
        erase(cast.ann.actor, str(memory.id))
    trash(cast.ann.actor, str(memory.id))
    with pytest.raises(NotFound):
        erase(cast.bob.actor, str(memory.id))
    erase(cast.ann.actor, str(memory.id))
    assert rows_of(cast, memory.id) == {"files": 0, "messages": 0, "revisions": 0, "entries": 0, "vectors": 0}
    assert capture(cast.ann.actor, content="the zorkmid").created


def test_the_trash_is_emptied_when_the_time_is_up_and_not_before(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture(actor, content="the zorkmid").memory
    work_jobs(QUIET)
    trash(actor, str(memory.id))
    assert work_jobs(QUIET) == 0
    due_now()
    assert work_jobs(QUIET) == 1  # rung too early: it stays
    assert rows_of(cast, memory.id)["files"] == 1
    restore(actor, str(memory.id))
    trash(actor, str(memory.id))
    with actor.session():
        RecallFile.objects.writable_by(actor).update(purge_after=timezone.now())
    due_now()
    work_jobs(QUIET)
    assert rows_of(cast, memory.id)["files"] == 0


def filing_is_due(cast: Cast) -> list[bool]:
    with cast.ann.actor.session() as actor:
        rows = Job.objects.visible_to(actor).filter(kind="file", state="pending")
        return [run_after <= timezone.now() for run_after in rows.values_list("run_after", flat=True)]


def test_memories_that_came_together_are_filed_when_the_last_one_has_its_vectors(cast: Cast) -> None:
    capture_bulk(cast.ann.actor, scope="personal", files=[chat("one"), chat("two"), chat("three")])
    due = []
    for _ in range(3):
        work.work_on(claimed())
        due.append(filing_is_due(cast))
    assert due == [[False], [False], [True]]
    assert claimed().kind == "file"


def test_filing_does_not_wait_for_a_memory_that_cannot_be_embedded(cast: Cast) -> None:
    capture_bulk(cast.ann.actor, scope="personal", files=[chat("one"), chat("two")])
    poison = claimed()
    work.work_on(claimed())
    assert filing_is_due(cast) == [False]
    fail(poison, "broken", can_heal=False)
    assert filing_is_due(cast) == [True]
