from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.keys import KEY_PATTERN, find_key, issue_key, revoke_key
from accounts.models import BrainKey
from accounts.people import actor_for_key
from tests.cast import Cast


def issue(cast: Cast, **changes: object) -> str:
    values = {"organization_id": cast.acme.id, "kind": "person", "label": "laptop", "user_id": cast.ann.user.id}
    return issue_key(**{**values, **changes}).text  # type: ignore[arg-type]


def test_a_key_works_when_it_is_minted(cast: Cast) -> None:
    text = issue(cast)
    assert KEY_PATTERN.fullmatch(text)
    found = find_key(text)
    assert found is not None
    assert (found.label, found.user) == ("laptop", cast.ann.user)


def test_the_secret_is_not_stored(cast: Cast) -> None:
    text = issue(cast)
    secret = text.rsplit("_", 1)[1]
    row = BrainKey.objects.filter(public_id=text.split("_")[2]).values().get()
    assert secret not in repr(row)
    assert len(row["secret_hash"]) == 32


def test_anything_but_the_whole_key_is_nobody(cast: Cast) -> None:
    text = issue(cast)
    wrong = [
        "",
        text[:-1],
        text[:-1] + ("a" if text[-1] != "a" else "b"),
        text + "a",
        text.upper(),
        text.replace("_person_", "_agent_"),
        f" {text}",
        text.replace("brk_", "brk-"),
        "brk_person_" + "a" * 10 + "_" + "a" * 43,
        text + "\0",
    ]
    assert [find_key(each) for each in wrong] == [None] * len(wrong)


def test_a_revoked_or_expired_key_is_dead_at_the_next_request(cast: Cast) -> None:
    revoked, expiring = issue(cast), issue(cast, expires_at=timezone.now() + timedelta(hours=1))
    found = find_key(revoked)
    assert found is not None
    revoke_key(found.id)
    assert find_key(expiring) is not None
    BrainKey.objects.filter(expires_at__isnull=False).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert (find_key(revoked), find_key(expiring)) == (None, None)


def test_last_use_is_written_once_a_minute(cast: Cast) -> None:
    text = issue(cast)
    key = find_key(text)
    assert key is not None
    first = BrainKey.objects.get(id=key.id).last_used_at
    find_key(text)
    assert BrainKey.objects.get(id=key.id).last_used_at == first
    assert first is not None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "root"}, "kind"),
        ({"permissions": ("everything",)}, "permissions"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "expires_at"),
    ],
)
def test_keys_that_could_never_work_are_not_minted(cast: Cast, changes: dict[str, object], field: str) -> None:
    before = BrainKey.objects.count()
    with pytest.raises(Invalid) as refused:
        issue(cast, **changes)
    assert (refused.value.field, BrainKey.objects.count()) == (field, before)


def test_a_switched_off_agent_or_person_is_let_in_no_more(cast: Cast) -> None:
    agent_key, person_key = find_key(cast.key_of("agent")), find_key(cast.bob.key)
    cast.robot.is_active = False
    cast.robot.save()
    cast.bob.user.is_active = False
    cast.bob.user.save()
    for key in (agent_key, person_key):
        assert key is not None
        key.refresh_from_db()
        with pytest.raises(Forbidden):
            actor_for_key(key)
