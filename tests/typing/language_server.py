"""What an editor shows: pyright's language server, asked for hovers over JSON-RPC.

Knows the protocol as far as that takes; what the texts should be is the tests' business.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, cast


class LanguageServer:
    """One server for a folder; a context manager, so that it ends with the block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        command = [sys.executable, "-m", "pyright.langserver", "--stdio"]
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> LanguageServer:
        uri = self._folder.as_uri()
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"hover": {"contentFormat": ["plaintext"]}},
        }
        folders = [{"uri": uri, "name": "folder"}]
        self._request(
            "initialize",
            {"processId": None, "rootUri": uri, "capabilities": capabilities, "workspaceFolders": folders},
        )
        self._notify("initialized", {})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._request("shutdown", None)
            self._notify("exit", None)
            self._process.wait(30)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def open(self, text: str) -> str:
        """Open a program, and give the name by which it is asked for."""
        uri = (self._folder / "program.py").as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def hover(self, uri: str, line: int, column: int) -> str:
        """What is shown where the pointer rests; line and column count from 0."""
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
        answer = self._request("textDocument/hover", place)
        return "" if answer is None else cast(str, answer["contents"]["value"])

    # -- the protocol ----------------------------------------------------------------------------------

    def _request(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": self._answer(message)})
            elif message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def _notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def _answer(self, message: dict[str, Any]) -> Any:
        """What the server asks its editor: for its settings, mostly."""
        if message["method"] != "workspace/configuration":
            return None
        settings = {
            "python": {"pythonPath": sys.executable},
            "python.analysis": {"typeCheckingMode": "standard"},
        }
        return [settings.get(item.get("section"), {}) for item in message["params"]["items"]]

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while True:
            line = stream.readline()
            if not line:
                raise EOFError("the language server has ended")
            if line == b"\r\n":
                return json.loads(stream.read(length))
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
