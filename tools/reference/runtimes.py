"""Which runtimes run an operator, and for which element types, as the installed ones tell."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from onnxsmith.runtime import kernels, onnxruntime_api
from onnxsmith.runtime.kernels import KernelDef
from onnxsmith.schema.definition import OperatorDef

#: Type variable -> element types, and sequences or optionals of them.
Types = Mapping[str, frozenset[str]]


@functools.cache
def _told() -> Mapping[tuple[str, str], Sequence[KernelDef]]:
    found: dict[tuple[str, str], list[KernelDef]] = defaultdict(list)
    for each in onnxruntime_api.compiled().get_all_opkernel_def():
        if each.provider == "CPUExecutionProvider":
            found[each.domain, each.op_name].append(each)
    return found


def kernel_types(definition: OperatorDef) -> Types | None:
    """The types that ONNX Runtime's CPU provider has kernels for; None where it has no kernel.

    What differs between kernels is put together: a combination of types may be missing.
    """
    types: dict[str, set[str]] = defaultdict(set)
    has_kernel = False
    for each in _told().get((definition.domain, definition.name), ()):
        first, last = each.version_range
        if first <= definition.since_version <= last:
            has_kernel = True
            for variable, words in each.type_constraints.items():
                types[variable].update(words)
    if not has_kernel and not definition.domain:  # functions whose bodies were tried
        for first, last, words in kernels.table().get(definition.name, ()):
            if first <= definition.since_version <= last:
                has_kernel = True
                for variable, names in words.items():
                    types[variable].update(f"tensor({name})" for name in names.split())
    return {variable: frozenset(words) for variable, words in types.items()} if has_kernel else None


def runtime_version() -> str:
    """The version of the ONNX Runtime that was asked."""
    return ".".join(map(str, onnxruntime_api.version()))
