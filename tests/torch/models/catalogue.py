"""What a model of the suite is, and the registry that the files of models fill. Exports nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

DYNAMIC = torch.export.Dim.DYNAMIC

#: Batch and length (or height and width) of the example that is exported, and of the one run after it.
SIZES = ((2, 8), (3, 12))

#: Module of the models, and what has to be installed for it.
_FILES = {
    "own": ("own_vision", "own_sequences", "own_attention", "own_structure", "own_flow", "own_numbers"),
    "transformers": ("of_transformers",),
    "timm": ("of_timm",),
}


@dataclass(frozen=True)
class ModelCase:
    """A model, its example at a size, and which dimensions may change."""

    name: str
    source: str
    make: Callable[[], torch.nn.Module]
    #: Positional arguments, or named ones, for a batch and a length.
    example: Callable[[int, int], tuple[Any, ...] | dict[str, Any]]
    #: As `torch.export.export` takes it; None if the model has no dynamic form.
    dynamic_shapes: Any = None
    is_fast: bool = True
    tolerance: float = 1e-4
    #: False where torch.export alone fails but an exporter can help it, so that a failure counts.
    is_excused_by_torch: bool = True


_cases: dict[str, ModelCase] = {}

#: Sources that could not be loaded, and why.
skipped: dict[str, str] = {}


def add(case: ModelCase) -> None:
    """Enter a model into the catalogue."""
    if case.name in _cases:
        raise ValueError(f"two models are called {case.name}")
    _cases[case.name] = case


def model(
    example: Callable[[int, int], tuple[Any, ...] | dict[str, Any]],
    dynamic: Any = None,
    *,
    name: str | None = None,
    arguments: tuple[Any, ...] = (),
    **options: Any,
) -> Callable[[type[torch.nn.Module]], type[torch.nn.Module]]:
    """Enter a module class of one's own into the catalogue, by its name in lower case with underscores."""

    def enter(made: type[torch.nn.Module]) -> type[torch.nn.Module]:
        words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in made.__name__)
        add(ModelCase(name or words.strip("_"), "own", lambda: made(*arguments), example, dynamic, **options))
        return made

    return enter


def all_models(*sources: str) -> dict[str, ModelCase]:
    """The models of these sources, or of all that are installed."""
    for source in sources or _FILES:
        for file in _FILES[source]:
            try:
                importlib.import_module(f"tests.torch.models.{file}")
            except Exception as error:  # packages that do not fit each other fail in their own ways
                if source == "own":
                    raise
                skipped[source] = f"{type(error).__name__}: {error}"
    return {name: case for name, case in _cases.items() if not sources or case.source in sources}


def image(channels: int, *, factor: int = 4, dtype: torch.dtype = torch.float32) -> Callable[[int, int], Any]:
    """An example of one batch of square images, `factor` times the length high."""
    return lambda batch, length: (
        torch.randn(batch, channels, factor * length, factor * length, dtype=dtype),
    )


def image_of_fixed_size(channels: int, side: int = 32) -> Callable[[int, int], Any]:
    """An example of one batch of images, as large at every size."""
    return lambda batch, length: (torch.randn(batch, channels, side, side),)


def sequence(features: int) -> Callable[[int, int], Any]:
    """An example of one batch of sequences."""
    return lambda batch, length: (torch.randn(batch, length, features),)


def tokens(vocabulary: int) -> Callable[[int, int], Any]:
    """An example of one batch of token numbers."""
    return lambda batch, length: (torch.randint(0, vocabulary, (batch, length)),)


BATCH = ({0: DYNAMIC},)
BATCH_AND_LENGTH = ({0: DYNAMIC, 1: DYNAMIC},)
BATCH_AND_SIZE = ({0: DYNAMIC, 2: DYNAMIC, 3: DYNAMIC},)
