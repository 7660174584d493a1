"""`MakesModels`: what a callable of another part of the package has, where a model of it is wanted.

Whoever needs a model (a gradient) asks for it here, and knows nothing of who makes it (`onnxsmith.numpy.jit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.specialised import Watch


@dataclass(frozen=True, slots=True)
class Known:
    """An option among types: its value, which may itself be a type."""

    value: object


class MakesModels:
    """A callable that makes models of itself."""

    def model_for(self, types: Sequence[object], named: Mapping[str, object]) -> tuple[Model, object]:
        """The model for inputs of these types, in the order of the parameters and by name, and its result.

        The result has a `Slot` in the place of each output.

        `float` is a number of Python's, and what is no type is an option as it is; `Known` holds any option.
        """
        raise NotImplementedError

    def watch(self) -> Watch:
        """A watch on the objects around the code: if one of them is replaced, models are out of date."""
        raise NotImplementedError
