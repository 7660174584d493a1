"""`op`: the operators that algorithms call, with casts around element types that their definitions refuse.

Such a call is made in a wider type, and its results are cast back. So an algorithm says what it means, for every
element type. What a runtime has kernels for is not asked here: that is seen to in the finished model, as in any other.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from onnxsmith.core.operator import Operator, Operators
from onnxsmith.core.operator_protocols import AnyOperator, AttributeValue, StandardOperators
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor as Tensor
from onnxsmith.core.value import Array, Operand, Value
from onnxsmith.runtime.wider_types import LEFT_ALONE, allowed_types
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: A tensor, or a constant that is to be one.
TensorOrArray: TypeAlias = Tensor | Array


class TensorOperator(AnyOperator, Protocol):
    """An operator that gives a tensor with Python's operators, as every target does."""

    def __call__(self, /, *inputs: Operand | None, **attributes: AttributeValue) -> Tensor: ...


class TensorOperators(StandardOperators, Protocol):
    """The operators that give such tensors, by attribute."""

    def __getattr__(self, name: str) -> TensorOperator: ...


class PortableOperator(Operator):  # pyright: ignore[reportIncompatibleMethodOverride]  # of `__doc__`, a property there
    # An operator whose calls are made in an element type that runs. No docstring: it has that of its definition.

    __slots__ = ("_is_plain", "_plans", "_variables")

    def __init__(self, definition: OperatorDef, version: int) -> None:
        super().__init__(definition, version, is_implicit=True)
        self._variables = tuple(each.type_name for each in definition.inputs)
        self._is_plain = definition.name in LEFT_ALONE
        self._plans: dict[tuple[Any, ...], dict[str, DType] | None] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._is_plain:
            return super().__call__(*args, **kwargs)
        dtypes = tuple([_dtype(each) for each in args])
        if None in dtypes:
            dtypes = self._with_arrays(args, dtypes)
        try:
            plan = self._plans[dtypes]
        except KeyError:
            plan = self._plans[dtypes] = allowed_types(self.definition, self._bound(dtypes))
        if plan is None:
            return super().__call__(*args, **kwargs)
        before = self._bound(dtypes)
        convert = current_graph().operators.Cast
        changed = [
            _converted(each, plan[variable], convert) if (variable := self._variable(k)) in plan else each
            for k, each in enumerate(args)
        ]
        results = super().__call__(*changed, **kwargs)
        many = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        outputs = self.definition.outputs
        restored = tuple(
            convert(each, to=before[formal.type_name]) if formal.type_name in plan else each
            for each, formal in zip(many, _repeated(outputs, len(many)), strict=True)
        )
        return restored if isinstance(results, tuple) else restored[0]

    def _variable(self, position: int) -> str:
        return self._variables[min(position, len(self._variables) - 1)] if self._variables else ""

    def _with_arrays(
        self, args: tuple[Any, ...], dtypes: tuple[DType | None, ...]
    ) -> tuple[DType | None, ...]:
        """Element types with those of arrays, for the type variables that no tensor stands for."""
        taken = {self._variable(k) for k, each in enumerate(dtypes) if each is not None}
        return tuple(
            _array_dtype(value) if dtype is None and self._variable(k) not in taken else dtype
            for k, (value, dtype) in enumerate(zip(args, dtypes, strict=True))
        )

    def _bound(self, dtypes: tuple[DType | None, ...]) -> dict[str, DType]:
        """The element type that each type variable stands for."""
        bound: dict[str, DType] = {}
        for position, dtype in enumerate(dtypes):
            if dtype is not None:
                bound.setdefault(self._variable(position), dtype)
        return bound


def _dtype(value: Any) -> DType | None:
    if isinstance(value, Value) and not isinstance(value, Number):
        kind = value.known.type
        return kind.dtype if isinstance(kind, TensorType) else None
    return None


def _array_dtype(value: Any) -> DType | None:
    if not isinstance(value, np.ndarray | np.generic):
        return None
    return DType.from_numpy(cast("np.ndarray[Any, Any]", value).dtype)


def _converted(value: Any, dtype: DType, convert: AnyOperator) -> Any:
    """A tensor or array in another element type; literals take the type of what they stand beside."""
    if isinstance(value, np.ndarray | np.generic):
        return cast("np.ndarray[Any, Any]", value).astype(dtype.numpy)
    return convert(value, to=dtype) if isinstance(value, Value) and not isinstance(value, Number) else value


def _repeated(formals: tuple[Parameter, ...], count: int) -> list[Parameter]:
    return [formals[min(k, len(formals) - 1)] for k in range(count)]


class PortableOperators(Operators):
    """The standard operators of one version, portable."""

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(name)
        found = PortableOperator(registry.lookup("", name, self.version), self.version)
        setattr(self, name, found)
        return found


#: version -> its operators; a handful of versions exist, and the operators hold no state of an export.
_by_version: dict[int, PortableOperators] = {}


def portable_operators(version: int) -> PortableOperators:
    """The operators of a version, made once."""
    found = _by_version.get(version)
    if found is None:
        found = _by_version[version] = PortableOperators(version)
    return found


class _ActiveOperators:
    """The operators of the graph that is being made: `op.Softmax(x, axis=-1)`."""

    def __getattr__(self, name: str) -> TensorOperator:
        if not name[:1].isupper():  # asked by who looks at what a function refers to
            raise AttributeError(name)
        return getattr(portable_operators(self.version), name)

    @property
    def version(self) -> int:
        """The opset version of the graph."""
        return current_graph().operators.version

    def has(self, name: str) -> bool:
        """True if the opset version has the operator."""
        return current_graph().operators.has(name)


op: TensorOperators = cast("TensorOperators", _ActiveOperators())
