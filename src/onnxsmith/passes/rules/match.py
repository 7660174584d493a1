"""A match, as the condition of a rule sees it: types, constants and captured values by the names of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import onnx_ir as ir

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.passes.values import Array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Shape, TensorType


class MatchedTensor:
    """A tensor that a parameter stands for: its type, as far as the model knows it.

    >>> from onnxsmith import FLOAT, Rule, opset21 as op, trace
    >>> def is_small(match):
    ...     return match.tensor("x").shape == (4,)
    >>> rule = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x), when=is_small)
    >>> len(trace(lambda x: op.Relu(op.Relu(x)), FLOAT[4]).rewrite(rule).nodes)
    1
    """

    __slots__ = ("_content", "_name", "_type", "_value")

    def __init__(
        self, name: str, type: AnyValueType, content: Callable[[], Array] | None, value: ir.Value
    ) -> None:
        self._name = name
        self._type = type
        self._content = content
        self._value = value

    @property
    def name(self) -> str:
        """Its name in the model."""
        return self._name

    @property
    def type(self) -> AnyValueType:
        """Element type and shape."""
        return self._type

    @property
    def dtype(self) -> DType | None:
        """The element type; None where it is not known."""
        return self._type.dtype if isinstance(self._type, TensorType) else None

    @property
    def shape(self) -> Shape | None:
        """The shape: sizes, names, and None for what is not known; None where the rank is not known."""
        return self._type.shape if isinstance(self._type, TensorType) else None

    @property
    def rank(self) -> int | None:
        """How many dimensions; None where that is not known."""
        return None if self.shape is None else len(self.shape)

    @property
    def is_constant(self) -> bool:
        """True if its content is known before the model runs."""
        return self._content is not None

    @property
    def array(self) -> Array:
        """The content of a constant, not to be changed; ValueError for what is none."""
        if self._content is None:
            raise ValueError(f"'{self.name}' is no constant")
        return self._content()

    def __repr__(self) -> str:
        return f"<'{self.name}': {self.type!r}>"


def value_of(tensor: MatchedTensor) -> ir.Value:
    """The value of the model that was matched, for code that has conditions of another form."""
    return tensor._value  # pyright: ignore[reportPrivateUsage]  # users have no use for it


class Match:
    """One place where a pattern matches, with the values of its parameters.

    `match["x"]` is a `MatchedTensor`, `match["xs"]` a tuple of them for `*xs`, `match["axis"]` the captured value.

    >>> from onnxsmith import FLOAT, Rule, opset21 as op, trace
    >>> def is_vector(match):
    ...     return match.tensor("x").rank == 1
    >>> rule = Rule(lambda x: op.Relu(op.Relu(x)), lambda x: op.Relu(x), when=is_vector)
    >>> len(trace(lambda x: op.Relu(op.Relu(x)), FLOAT["N"]).rewrite(rule).nodes)
    1
    """

    __slots__ = ("_node", "_values")

    def __init__(self, node: str, values: Mapping[str, object]) -> None:
        self._node = node
        self._values = values

    @property
    def node(self) -> str:
        """The name of the node that the pattern was found at."""
        return self._node

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Any:  # a tensor, a tuple of them, or a value: the pattern says which
        if name in self._values:
            return self._values[name]
        hint = did_you_mean(name, self._values) or f"it has {', '.join(self._values)}"
        raise KeyError(f"the match has no {name!r}: {hint}")

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
        return f"<match at '{self.node}'>"
