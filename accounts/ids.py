"""Time-ordered identifiers."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, 12 of their fraction (a quarter of a microsecond), 62 random bits (RFC 9562, 6.2).

    Ids that one process makes one after the other are in order as long as its clock does not go back.
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = nanoseconds * 4_096 // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random)
