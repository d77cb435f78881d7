"""Keys: `brk_<kind>_<public id>_<secret>`. Shown once; stored as a keyed hash; compared in constant time."""

import hmac
import re
import secrets
import string
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.errors import Invalid
from accounts.models import BrainKey

ALPHABET = string.ascii_letters + string.digits
PUBLIC_ID_LENGTH = 10
SECRET_LENGTH = 43  # 43 of 62 characters: 256 bits
KEY_PATTERN = re.compile(
    rf"brk_(person|agent|context|intent)_([A-Za-z0-9]{{{PUBLIC_ID_LENGTH}}})_([A-Za-z0-9]{{{SECRET_LENGTH}}})"
)
LAST_USED_EVERY = timedelta(minutes=1)  # or every request becomes a write


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """`text` is the whole key: this is the only time it exists outside its holder's hands."""

    id: UUID
    text: str


def _random(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def hash_secret(secret: str) -> bytes:
    return hmac.new(settings.KEY_PEPPER.encode(), secret.encode(), sha256).digest()


def issue_key(
    *,
    organization_id: UUID,
    kind: str,
    label: str,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    permissions: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Raises Invalid for an unknown kind or permission, or an expiry in the past."""
    if kind not in BrainKey.Kind.values:
        raise Invalid(f"Kind must be one of {', '.join(BrainKey.Kind.values)}.", field="kind")
    if unknown := set(permissions) - set(BrainKey.Permission.values):
        raise Invalid(f"Unknown permission {sorted(unknown)[0]}.", field="permissions")
    if expires_at is not None and expires_at <= timezone.now():
        raise Invalid("The key would already have expired.", field="expires_at")
    public_id, secret = _random(PUBLIC_ID_LENGTH), _random(SECRET_LENGTH)
    key = BrainKey.objects.create(
        organization_id=organization_id,
        user_id=user_id,
        agent_id=agent_id,
        kind=kind,
        label=label,
        permissions=sorted(permissions),
        public_id=public_id,
        secret_hash=hash_secret(secret),
        expires_at=expires_at,
    )
    return IssuedKey(key.id, f"brk_{kind}_{public_id}_{secret}")


def find_key(text: str) -> BrainKey | None:
    """The usable key of this text, with its user, agent and organization; None for anything else."""
    match = KEY_PATTERN.fullmatch(text)
    if match is None:
        return None
    kind, public_id, secret = match.groups()
    key = (
        BrainKey.objects.select_related("user", "agent", "organization").filter(public_id=public_id, kind=kind).first()
    )
    # hash even when there is no such key: the answer takes the same time
    stored = bytes(key.secret_hash) if key else bytes(32)
    matches = hmac.compare_digest(stored, hash_secret(secret))
    if key is None or not matches or not key.is_usable():
        return None
    _touch(key)
    return key


def _touch(key: BrainKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > LAST_USED_EVERY:
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - LAST_USED_EVERY)
        BrainKey.objects.filter(stale, id=key.id).update(last_used_at=now)


def revoke_key(key_id: UUID) -> None:
    BrainKey.objects.filter(id=key_id, revoked_at__isnull=True).update(revoked_at=timezone.now())
