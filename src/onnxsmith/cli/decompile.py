"""`onnxsmith decompile m.onnx -o folder`: a model as a Python module, with its weights beside it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import STREAM, check_words, read_input, read_proto, shown
from onnxsmith.cli.terminal import progress
from onnxsmith.decompiling import decompile, decompile_to


def run(options: argparse.Namespace, report: Report) -> int:
    """Write the modules, or print them."""
    check_words(options.models)
    if options.output == STREAM and options.weights == "safetensors":
        raise Usage("-o - writes no files: the weights can be inline or external, not safetensors")
    is_output = options.output == STREAM
    work = _print if is_output else _write
    return report.each(
        options.models, lambda word: work(word, options), is_output=is_output and not report.as_json
    )


def _given(word: str) -> Any:
    return read_proto(read_input()) if word == STREAM else word


def _print(word: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    with progress(f"reading {shown(word)}"):
        text = decompile(_given(word), weights=options.weights or "inline", group=options.group)
    return {"text": text}, text.removesuffix("\n")


def _write(word: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    folder = Path(options.output or ("model" if word == STREAM else Path(word).stem))
    before = _written_in(folder)
    with progress(f"writing {folder}"):
        module = decompile_to(
            _given(word),
            folder,
            weights=options.weights or "safetensors",
            group=options.group,
            overwrite=options.force,
        )
    data = module.with_suffix(".safetensors")
    written = [module] if _written_in(folder).get(data) == before.get(data) else [module, data]
    text = "\n".join(f"{each}: {described_bytes(each.stat().st_size)}" for each in written)
    return {"written": [str(each) for each in written], "bytes": module.stat().st_size}, text


def _written_in(folder: Path) -> dict[Path, int]:
    """When the weights there were written: a file that stays as it was is of another model."""
    if not os.path.isdir(folder):
        return {}
    return {each: each.stat().st_mtime_ns for each in folder.glob("*.safetensors")}
