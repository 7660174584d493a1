"""Numbers of bytes for people."""

from __future__ import annotations


def described_bytes(count: int) -> str:
    """A number of bytes in the unit that people would choose.

    >>> described_bytes(999), described_bytes(1500), described_bytes(2_340_000_000)
    ('999 bytes', '1.5 kB', '2.3 GB')
    """
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("GB ends the loop")
