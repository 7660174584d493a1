"""The kernels of ONNX Runtime's CPU provider, by operator, version and element types.

The table was generated from one version of ONNX Runtime. Another one that is installed is asked itself, once. What is
done about a kernel that is missing is decided elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType

#: The first and last version of the operator's definition, and the element types of each type variable, as words.
Kernel: TypeAlias = tuple[int, int, dict[str, str]]
KernelTable: TypeAlias = Mapping[str, tuple[Kernel, ...]]


class KernelDef(Protocol):
    """The description of one kernel by ONNX Runtime."""

    @property
    def op_name(self) -> str: ...
    @property
    def domain(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def version_range(self) -> tuple[int, int]: ...
    @property
    def type_constraints(self) -> dict[str, list[str]]: ...


@functools.cache
def table() -> KernelTable:
    """The kernels of the installed ONNX Runtime; those of the generated table where none is installed."""
    # Here, because it takes milliseconds, and few programs lack a kernel.
    from onnxsmith.runtime.kernel_table import KERNELS, RUNTIME_VERSION

    if not onnxruntime_api.is_available() or onnxruntime_api.version() == RUNTIME_VERSION:
        return KERNELS
    try:
        told = collected(onnxruntime_api.compiled().get_all_opkernel_def())
    except AttributeError:  # a build that does not tell
        return KERNELS
    # Operators that are functions have no kernels of their own, and nothing is told about them.
    return {**KERNELS, **told}


def collected(definitions: Iterable[KernelDef]) -> dict[str, tuple[Kernel, ...]]:
    """The CPU's kernels of the standard operators; those that differ in the types of one variable are put together."""
    single: dict[str, dict[tuple[int, int, str], set[str]]] = {}
    result: dict[str, list[Kernel]] = {}
    for each in definitions:
        first, last = each.version_range
        if each.provider != "CPUExecutionProvider" or each.domain != "":
            continue
        types = _tensor_types(each.type_constraints)
        if not types:
            continue
        if len(types) == 1:
            ((variable, words),) = types.items()
            found = single.setdefault(each.op_name, {})
            found.setdefault((first, last, variable), set()).update(words.split())
        else:
            result.setdefault(each.op_name, []).append((first, last, types))
    for name, entries in single.items():
        for (first, last, variable), words in entries.items():
            result.setdefault(name, []).append((first, last, {variable: " ".join(sorted(words))}))
    return {name: tuple(sorted(result[name], key=repr)) for name in sorted(result)}


def _tensor_types(constraints: Mapping[str, list[str]]) -> dict[str, str] | None:
    """Types of each variable as words; None for a kernel of sequences or optionals."""
    result: dict[str, str] = {}
    for variable, types in constraints.items():
        if not all(each.startswith("tensor(") for each in types):
            return None
        result[variable] = " ".join(sorted(each[len("tensor(") : -1] for each in types))
    return result


def has_kernel(op: OperatorDef, types: Mapping[str, DType]) -> bool:
    """True if one kernel takes these element types, given by type variable.

    True where no kernel is known at all: functions of other operators have none of their own. float16 counts as
    float32. ONNX Runtime inserts those casts itself, unless it replaces the operator by its function.
    """
    known = [types for first, last, types in table().get(op.name, ()) if first <= op.since_version <= last]
    return not known or any(
        all(_accepts(op, kernel[variable], dtype) for variable, dtype in types.items() if variable in kernel)
        for kernel in known
    )


def _accepts(op: OperatorDef, words: str, dtype: DType) -> bool:
    accepted = words.split()
    if dtype.onnx_name in accepted:
        return True
    return dtype is DType.FLOAT16 and DType.FLOAT.onnx_name in accepted and not op.has_function
