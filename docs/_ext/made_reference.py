"""Makes the pages of the reference when the documentation is built, and fails the build where an example does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # where `tools` and `tests` are

from tools.reference import pages  # noqa: E402
from tools.reference.api_pages import IncompleteReference  # noqa: E402

_running: list[subprocess.Popen[str]] = []


def _make(app: Sphinx, config: Config) -> None:
    """Write the pages before any are read, and start the examples of the docstrings."""
    _running.append(pages.start_examples())
    try:
        pages.write(Path(app.srcdir) / "reference")
    except IncompleteReference as missing:
        raise ExtensionError(str(missing)) from None


def _wait(app: Sphinx, error: Exception | None) -> None:
    """Wait for the examples; the build fails if one does."""
    while _running:
        process = _running.pop()
        said, _ = process.communicate()
        if process.returncode and error is None:
            raise ExtensionError(f"examples in docstrings do not give what they say:\n{said}")


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks an extension for."""
    app.connect("config-inited", _make)
    app.connect("build-finished", _wait)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
