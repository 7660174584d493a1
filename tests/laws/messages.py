"""Objects through pipes between a process and its child, with a limit of time. Needs the standard library alone."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LATE = "late"
#: On a busy machine a child may wait so many times as long as it computes.
_WAITING = 5
#: How often the time that a child has computed is looked at, in seconds.
_LOOK = 1.0


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def questions() -> Iterator[object]:
    """What the parent sends, until it has no more."""
    while len(header := sys.stdin.buffer.read(8)) == 8:
        yield pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", header)[0]))


def answer_stream() -> IO[bytes]:
    """Where a child answers: its standard output, kept free of what libraries print."""
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stream


class Child:
    """A process that answers messages."""

    def __init__(
        self, command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=nothing, bufsize=0, cwd=cwd, env=env
        )
        self._buffer = b""

    def send(self, message: object) -> None:
        """Ask it something; a child that has ended says so when its answer is read."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            send(self._process.stdin, message)

    def receive(self, seconds: float) -> object:
        """The next message; LATE when the child has computed so many seconds, None when the process has ended.

        What waits, for another process or for nothing, is late after five times as many.
        """
        assert self._process.stdout is not None
        begun, end = time.monotonic(), time.monotonic() + _WAITING * seconds
        computed = self._computed()
        while len(self._buffer) < 8 or len(self._buffer) < 8 + self._length():
            if not select.select([self._process.stdout], [], [], _LOOK)[0]:
                now = time.monotonic()
                if now > end or (now - begun > seconds and self._computed() - computed > seconds):
                    return LATE
                continue
            chunk = os.read(self._process.stdout.fileno(), 1 << 20)
            if not chunk:
                return None
            self._buffer += chunk
        length = self._length()
        message: object = pickle.loads(self._buffer[8 : 8 + length])
        self._buffer = self._buffer[8 + length :]
        return message

    def _computed(self) -> float:
        """The processor's seconds that the process has used: a busy machine takes nothing away from them."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _length(self) -> int:
        return struct.unpack("<Q", self._buffer[:8])[0]

    def end(self, *, kill: bool) -> str:
        """Wait for its end; how it ended, in a word: the name of a signal, or its exit status."""
        if kill:
            self._process.kill()
        code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        return signal.Signals(-code).name if code < 0 else f"exit {code}"
