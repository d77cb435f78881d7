"""The brain's write lock and the number of its latest change, in one row."""

from django.db.models import F

from accounts.actor import Actor, BrainRef
from memory.models import CorpusVersion, RemovedEntry

REMEMBERED_CHANGES = 1_000


def lock_brain(actor: Actor, brain: BrainRef) -> int:
    """Take the write lock of a brain until the transaction ends; the number of the change that is now being made.

    Held until commit, so changes become visible in the order of their numbers. One lock for each brain also means that
    two writers never wait for each other in a circle. Needs an open session.
    """
    rows = CorpusVersion.objects.writable_by(actor).filter(brain_id=brain.id, id=brain.id)
    if not rows.update(revision=F("revision") + 1):
        first = CorpusVersion(id=brain.id, brain_id=brain.id, scope=brain.scope, revision=0)
        rows.bulk_create([first], ignore_conflicts=True)
        rows.update(revision=F("revision") + 1)
    return int(rows.values_list("revision", flat=True).get())


def forget_old_removals(actor: Actor, brain: BrainRef, revision: int) -> None:
    """Keep the list of removed entries short; caches that are further behind reload everything."""
    oldest = revision - REMEMBERED_CHANGES
    if oldest > 0:
        RemovedEntry.objects.writable_by(actor).filter(brain_id=brain.id, revision__lte=oldest).delete()
        CorpusVersion.objects.writable_by(actor).filter(brain_id=brain.id, id=brain.id).update(oldest_removal=oldest)
