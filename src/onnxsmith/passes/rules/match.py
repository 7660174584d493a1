"""A match, as the condition of a rule sees it: types, constants and captured values by the names of the parameters."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.bindings import Bindings
from onnxsmith.passes.rules.constants import array_of, tensor_of
from onnxsmith.passes.values import Array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Shape, TensorType


class MatchedTensor:
    """A tensor that a parameter stands for: its type, as far as the model knows it."""

    __slots__ = ("_edit", "_value")

    def __init__(self, edit: Editor, value: ir.Value) -> None:
        self._edit = edit
        self._value = value

    @property
    def name(self) -> str:
        """Its name in the model."""
        return self._value.name or ""

    @property
    def type(self) -> AnyValueType:
        """Element type and shape."""
        return type_from_ir(self._value.type, self._value.shape)

    @property
    def dtype(self) -> DType | None:
        """The element type; None where it is not known."""
        kind = self.type
        return kind.dtype if isinstance(kind, TensorType) else None

    @property
    def shape(self) -> Shape | None:
        """The shape: sizes, names, and None for what is not known; None where the rank is not known."""
        kind = self.type
        return kind.shape if isinstance(kind, TensorType) else None

    @property
    def rank(self) -> int | None:
        """How many dimensions; None where that is not known."""
        shape = self.shape
        return None if shape is None else len(shape)

    @property
    def is_constant(self) -> bool:
        """Whether its content is known before the model runs."""
        return tensor_of(self._edit, self._value) is not None

    @property
    def array(self) -> Array:
        """The content of a constant; ValueError for what is none."""
        found = array_of(self._edit, self._value)
        if found is None:
            raise ValueError(f"'{self.name}' is no constant")
        return read_only(found)

    def __repr__(self) -> str:
        return f"<'{self.name}': {self.type!r}>"


class Match:
    """What the parameters of a pattern are at one place of a model.

    `match["x"]` is a `MatchedTensor`, `match["xs"]` a tuple of them for `*xs`, `match["axis"]` the captured value.
    """

    __slots__ = ("_edit", "_found", "name")

    def __init__(self, edit: Editor, found: Bindings, name: str) -> None:
        self._edit = edit
        self._found = found
        #: The node that the pattern was found at.
        self.name = name

    def __contains__(self, name: object) -> bool:
        found = self._found
        return name in found.tensors or name in found.rest or name in found.captured

    def __getitem__(self, name: str) -> object:
        found = self._found
        if name in found.tensors:
            return MatchedTensor(self._edit, found.tensors[name])
        if name in found.rest:
            return tuple(MatchedTensor(self._edit, each) for each in found.rest[name])
        if name in found.captured:
            return found.captured[name]
        known = [*found.tensors, *found.rest, *found.captured]
        hint = did_you_mean(name, known)
        raise KeyError(
            f"the match has no {name!r}" + (f"; {hint}" if hint else f": it has {', '.join(known)}")
        )

    def tensor(self, name: str) -> MatchedTensor:
        """A tensor that was matched."""
        found = self[name]
        if not isinstance(found, MatchedTensor):
            raise KeyError(f"{name!r} is no tensor")
        return found

    def array(self, name: str) -> Array:
        """The content of a constant that was matched."""
        return self.tensor(name).array

    def __repr__(self) -> str:
        return f"<match at '{self.name}'>"


def read_only(array: Array) -> Array:
    """The same array for people who must not change it: a weight is shared with the model that was given."""
    view = array.view()
    view.flags.writeable = False
    return view
