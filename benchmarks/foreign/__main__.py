"""Writes the models of the exporters that are installed here: `python -m benchmarks.foreign FOLDER`.

Each exporter wants other versions of what it is made of. So each has an environment of its own, and the benchmark
`foreign` reads the folder that `ONNXSMITH_FOREIGN_MODELS` names.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.foreign.making import write

#: Modules of models, each of an exporter.
MODULES = ("keras_models", "table_models", "jax_models", "paddle_models")


def main(folder: Path) -> None:
    """Write what can be made; an exporter that is not installed, or that cannot export a model, is named."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        try:
            models = importlib.import_module(f"benchmarks.foreign.{module}").MODELS
        except ImportError as error:
            print(f"{module}: not installed ({error})")
            continue
        for name, make in models.items():
            try:
                write(folder, name.replace(" ", "-"), make())
            except Exception as error:  # the exporter's own refusal
                print(f"{name}: not exported: {type(error).__name__}: {str(error)[:200]}")
        print(f"{module}: {len(models)} models")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
