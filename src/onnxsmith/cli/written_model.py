"""A model written where a command was told to: which files that are, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.terminal import progress
from onnxsmith.graphs.existing_files import is_model, refuse
from onnxsmith.graphs.model import Model


def write_model(
    model: Model, output: Path, *, external_data: bool, force: bool
) -> tuple[dict[str, Any], str]:
    """Write a model; gives what `--json` has of it, and what is printed.

    What is there already is replaced where it is a model, and its data; else it takes `force`.
    """
    if output.is_file() and not force and not is_model(output):
        raise refuse(output, "holds no model", "write to another file with -o")
    data = output.parent / f"{output.name}.data"
    before = _written_at(data)
    with progress(f"writing {output}"):
        model.save(output, external_data=external_data or None, overwrite=force)
    size = output.stat().st_size
    has_data = _written_at(data) != before  # else it is of another model that was here
    written = [str(output), str(data)] if has_data else [str(output)]
    content = {"written": written, "bytes": size, "summary": repr(model)}
    return content, f"{output}: {described_bytes(size)}\n{model!r}"


def _written_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
