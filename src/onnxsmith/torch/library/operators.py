"""`op`: the operators that translations call, with casts around element types that do not run.

A call is made in a wider type, and its results are cast back, where the operator's definition refuses the element type
or, in a model for ONNX Runtime, there is no kernel for it. So a translation says what it means, and every element type
runs. The types are chosen by `runtime.wider_types`, as for any other model. They are asked for here, call by call, and
not put around the nodes of the finished model: so constants are made in the type that they are used in.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.core.operator import Operator, Operators
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Value
from onnxsmith.graphs.builder import current_graph
from onnxsmith.runtime.wider_types import LEFT_ALONE, wider_types
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


class PortableOperator(Operator):  # pyright: ignore[reportIncompatibleMethodOverride]  # of `__doc__`, a property there
    # An operator whose calls are made in an element type that runs. No docstring: it has that of its definition.

    __slots__ = ("_for_kernels", "_is_plain", "_plans", "_scatters", "_variables")

    def __init__(self, definition: OperatorDef, version: int, *, for_kernels: bool) -> None:
        super().__init__(definition, version, is_implicit=True)
        self._for_kernels = for_kernels
        self._variables = tuple(each.type_name for each in definition.inputs)
        self._is_plain = definition.name in LEFT_ALONE
        self._scatters = definition.name.startswith("Scatter")
        self._plans: dict[tuple[Any, ...], dict[str, DType] | None] = {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._is_plain:
            return super().__call__(*args, **kwargs)
        dtypes = tuple([_dtype(each) for each in args])
        if None in dtypes:
            dtypes = self._with_arrays(args, dtypes)
        reduction = kwargs.get("reduction", "none") if self._scatters else "none"
        try:
            plan = self._plans[dtypes, reduction]
        except KeyError:
            plan = wider_types(
                self.definition,
                self._bound(dtypes),
                for_kernels=self._for_kernels,
                lossy=True,
                reduction=reduction,
            )
            self._plans[dtypes, reduction] = plan
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


def _converted(value: Any, dtype: DType, convert: Operator) -> Any:
    """A tensor or array in another element type; literals take the type of what they stand beside."""
    if isinstance(value, np.ndarray | np.generic):
        return cast("np.ndarray[Any, Any]", value).astype(dtype.numpy)
    return convert(value, to=dtype) if isinstance(value, Value) and not isinstance(value, Number) else value


def _repeated(formals: tuple[Parameter, ...], count: int) -> list[Parameter]:
    return [formals[min(k, len(formals) - 1)] for k in range(count)]


class PortableOperators(Operators):
    """The standard operators of one version, portable; `for_kernels` casts around missing kernels, too."""

    def __init__(self, version: int, *, for_kernels: bool) -> None:
        super().__init__(version)
        self._for_kernels = for_kernels

    def __getattr__(self, name: str) -> Operator:
        if name.startswith("_"):
            raise AttributeError(name)
        definition = registry.lookup("", name, self.version)
        found = PortableOperator(definition, self.version, for_kernels=self._for_kernels)
        setattr(self, name, found)
        return found


#: (version, for kernels) -> its operators; a handful of versions exist, and the operators hold no state of an export.
_made: dict[tuple[int, bool], PortableOperators] = {}


def portable_operators(version: int, *, for_kernels: bool) -> PortableOperators:
    """The operators of a version, made once."""
    found = _made.get((version, for_kernels))
    if found is None:
        found = _made[version, for_kernels] = PortableOperators(version, for_kernels=for_kernels)
    return found


class _ActiveOperators:
    """The operators of the model that is being made: `op.Softmax(x, axis=-1)`."""

    def __getattr__(self, name: str) -> Operator:
        return getattr(current_graph().operators, name)

    @property
    def version(self) -> int:
        """The opset version of the model."""
        return current_graph().operators.version

    def has(self, name: str) -> bool:
        """Whether the opset version has the operator."""
        return current_graph().operators.has(name)


op: Any = _ActiveOperators()
