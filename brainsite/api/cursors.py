"""Opaque cursors: the last row of a page, for one actor on one route. A forged, cut or borrowed one is refused."""

import base64
import binascii
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.actor import Actor
from accounts.errors import Invalid
from memory.memories import Cursor

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT_BYTES, ID_BYTES, SEAL_BYTES = 8, 16, 12


def write_cursor(actor: Actor, route: str, created_at: datetime, row_id: UUID) -> str:
    micros = (created_at - EPOCH) // timedelta(microseconds=1)
    row = micros.to_bytes(MOMENT_BYTES, "big", signed=True) + row_id.bytes
    return base64.urlsafe_b64encode(row + _seal(actor, route, row)).decode()


def read_cursor(actor: Actor, route: str, text: str) -> Cursor:
    """Raises Invalid that names the cursor."""
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raw = b""
    row, seal = raw[: MOMENT_BYTES + ID_BYTES], raw[MOMENT_BYTES + ID_BYTES :]
    if not constant_time_compare(seal.hex(), _seal(actor, route, row).hex()):
        raise Invalid("This is no cursor of this list.", field="cursor")
    micros = int.from_bytes(row[:MOMENT_BYTES], "big", signed=True)
    return Cursor(EPOCH + timedelta(microseconds=micros), UUID(bytes=row[MOMENT_BYTES:]))


def _seal(actor: Actor, route: str, row: bytes) -> bytes:
    asker = f"{actor.organization_id}:{actor.principal_id or actor.key_id}:{route}:"
    return salted_hmac("brain.cursor", asker.encode() + row, algorithm="sha256").digest()[:SEAL_BYTES]
