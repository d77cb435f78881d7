"""Time-ordered identifiers."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, version 7, 74 random bits (RFC 9562). Ids of one millisecond are unordered."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF000 << 64) | 0x7000 << 64  # version
    value = value & ~(0xC000 << 48) | 0x8000 << 48  # variant
    return UUID(int=value)
