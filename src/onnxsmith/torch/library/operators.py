"""`op`: the operators that translations call, with casts around what ONNX Runtime's CPU has no kernel for.

A call whose element type the operator's schema or ONNX Runtime refuses is made in a wider type, and its results are
cast back. So a translation says what it means, and every element type runs. float16 is left as it is wherever
float32 runs: ONNX Runtime does those casts itself, and other providers have the kernels.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.core.operator import Operator, Operators
from onnxsmith.core.operator_protocols import AnyOperator
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.torch.library.kernels import KERNELS
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Where an element type may go when it has no kernel, the best first.
_WIDER: dict[DType, tuple[DType, ...]] = {
    DType.BOOL: (DType.UINT8, DType.INT32, DType.INT64, DType.FLOAT),
    DType.INT8: (DType.INT16, DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.UINT8: (DType.INT16, DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.INT16: (DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.UINT16: (DType.INT32, DType.INT64, DType.FLOAT, DType.DOUBLE),
    DType.INT32: (DType.INT64, DType.DOUBLE, DType.FLOAT),
    DType.UINT32: (DType.INT64, DType.UINT64, DType.DOUBLE, DType.FLOAT),
    DType.INT64: (DType.DOUBLE, DType.FLOAT, DType.INT32),
    DType.UINT64: (DType.INT64, DType.DOUBLE, DType.FLOAT),
    DType.BFLOAT16: (DType.FLOAT,),
    DType.FLOAT16: (DType.FLOAT,),
    DType.DOUBLE: (DType.FLOAT,),
    DType.FLOAT8E4M3FN: (DType.FLOAT16, DType.FLOAT),
    DType.FLOAT8E5M2: (DType.FLOAT16, DType.FLOAT),
}
#: Operators that move elements without looking at them, and so are right in a type of the same size.
_NO_WIDENING = frozenset({"Cast", "CastLike", "Identity", "If", "Loop", "Scan", "Constant"})
#: What ONNX Runtime's scatters take and then refuse when they have to add, multiply or compare.
_ONLY_MOVED = frozenset({DType.FLOAT16, DType.BFLOAT16})


class PortableOperator(Operator):  # pyright: ignore[reportIncompatibleMethodOverride]  # of `__doc__`, a property there
    # An operator whose calls are made in an element type that runs. No docstring: it has that of its definition.

    __slots__ = ("_is_plain", "_plans", "_scatters", "_variables")

    def __init__(self, definition: OperatorDef, version: int) -> None:
        super().__init__(definition, version, is_implicit=True)
        self._variables = tuple(each.type_name for each in definition.inputs)
        self._is_plain = definition.name in _NO_WIDENING
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
            refused = _ONLY_MOVED if reduction != "none" else frozenset[DType]()
            plan = _plan(self.definition, self.version, self._bound(dtypes), refused)
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


def _converted(value: Any, dtype: DType, convert: AnyOperator) -> Any:
    """A tensor or array in another element type; literals take the type of what they stand beside."""
    if isinstance(value, np.ndarray | np.generic):
        return cast("np.ndarray[Any, Any]", value).astype(dtype.numpy)
    return convert(value, to=dtype) if isinstance(value, Value) and not isinstance(value, Number) else value


def _repeated(formals: tuple[Parameter, ...], count: int) -> list[Parameter]:
    return [formals[min(k, len(formals) - 1)] for k in range(count)]


def _plan(
    definition: OperatorDef, version: int, bound: dict[str, DType], refused: frozenset[DType]
) -> dict[str, DType] | None:
    """The types to compute in, for the variables whose type does not run; None when the call runs as it is."""
    runs = [types for first, last, types in KERNELS.get(definition.name, ()) if first <= version <= last]
    changed: dict[str, DType] = {}
    for variable, dtype in bound.items():
        if (
            dtype not in refused
            and _is_allowed(definition, variable, dtype)
            and _has_kernel(runs, bound | changed, variable, dtype)
        ):
            continue
        for wider in _WIDER.get(dtype, ()):
            if _is_allowed(definition, variable, wider) and _has_kernel(
                runs, bound | changed, variable, wider
            ):
                changed[variable] = wider
                break
    return changed or None


def _is_allowed(definition: OperatorDef, variable: str, dtype: DType) -> bool:
    for formal in definition.inputs:
        if formal.type_name == variable:
            return not formal.types or f"tensor({dtype.onnx_name})" in formal.types
    return True


def _has_kernel(runs: list[dict[str, str]], bound: dict[str, DType], variable: str, dtype: DType) -> bool:
    """Whether a kernel takes the type; true where no kernel is listed, since functions have none of their own."""
    relevant = [types for types in runs if variable in types]
    if not relevant:
        return True
    accepted = {dtype.onnx_name, "float"} if dtype is DType.FLOAT16 else {dtype.onnx_name}
    return any(accepted & set(types[variable].split()) for types in relevant)


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
