"""An editor's side of a debugging session: the few requests of the Debug Adapter Protocol that tests need."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

_PATIENCE = 60


class Editor:
    """Runs a program under debugpy and talks to it as an editor does."""

    def __init__(self, program: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.program = program
        self._printed = program.with_suffix(".out")
        with program.with_suffix(".out").open("w") as printed:
            self.process = self._begun(program, port, printed)
        self._socket = self._connected(port)
        self._stream = self._socket.makefile("rwb")
        self._sequence = 0
        self._events: list[dict[str, Any]] = []

    @staticmethod
    def _begun(program: Path, port: int, printed: IO[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *(sys.executable, "-Xfrozen_modules=off", "-m", "debugpy"),
                *("--listen", f"127.0.0.1:{port}", "--wait-for-client", str(program)),
            ],
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # the debugger has a process of its own, which must end with it
        )

    def _connected(self, port: int) -> socket.socket:
        begun = time.monotonic()
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
            except OSError:
                if time.monotonic() - begun > _PATIENCE:
                    raise
                time.sleep(0.1)

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._stream.close()
        self._socket.close()

    # -- the protocol ------------------------------------------------------------------------------------

    def send(self, command: str, **arguments: Any) -> int:
        self._sequence += 1
        request = {"seq": self._sequence, "type": "request", "command": command, "arguments": arguments}
        content = json.dumps(request).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._stream.flush()
        return self._sequence

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self._stream.readline().strip():
            length = int(line.removeprefix(b"Content-Length: "))
        return json.loads(self._stream.read(length))

    def ask(self, command: str, **arguments: Any) -> Any:
        sequence = self.send(command, **arguments)
        return self.answer(sequence)

    def answer(self, sequence: int) -> Any:
        while True:
            message = self._read()
            if message["type"] == "response" and message["request_seq"] == sequence:
                assert message["success"], message
                return message.get("body")
            if message["type"] == "event":
                self._events.append(message)

    def wait_for(self, event: str) -> dict[str, Any]:
        while True:
            for position, message in enumerate(self._events):
                if message["event"] == event:
                    del self._events[position]
                    return message.get("body", {})
            message = self._read()
            if message["type"] == "event":
                self._events.append(message)

    # -- what a person does ------------------------------------------------------------------------------

    def start(self, *lines: int) -> None:
        """Set breakpoints and let the program run."""
        self.ask("initialize", adapterID="test", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        # An editor leaves out installed packages by itself; here this one stands among the sources.
        rules = [{"module": "onnxsmith", "include": False}]
        attached = self.send("attach", justMyCode=True, rules=rules)
        self.wait_for("initialized")
        breakpoints = [{"line": line} for line in lines]
        self.ask("setBreakpoints", source={"path": str(self.program)}, breakpoints=breakpoints)
        self.ask("configurationDone")
        self.answer(attached)

    def stopped(self) -> list[tuple[str, int]]:
        """Wait until the program stops: its stack, innermost first, by function and line."""
        self._thread = self.wait_for("stopped")["threadId"]
        self._frames: list[dict[str, Any]] = self.ask("stackTrace", threadId=self._thread)["stackFrames"]
        return [(frame["name"], frame["line"]) for frame in self._frames]

    def step(self, command: str) -> list[tuple[str, int]]:
        """`next`, `stepIn` or `stepOut`: the stack where the program stops again."""
        self.ask(command, threadId=self._thread)
        return self.stopped()

    def value(self, expression: str, level: int = 0) -> str:
        """What an expression is in a frame, as shown."""
        return self.ask("evaluate", expression=expression, frameId=self._frames[level]["id"])["result"]

    def go_on(self) -> str:
        """Let the program run to its end: what it printed."""
        self.ask("continue", threadId=self._thread)
        self.wait_for("terminated")
        self.send("disconnect")
        self.process.wait(timeout=_PATIENCE)
        return self._printed.read_text()
