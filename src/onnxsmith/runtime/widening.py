"""Nodes without a kernel for their element types, computed in wider ones: cast, the operator, cast back.

So one bfloat16 or small-integer operator does not send a whole model to another engine. Which types are chosen is told
in `wider_types`; whether this is asked for is decided elsewhere.
"""

from __future__ import annotations

import functools

import onnx

from onnxsmith.graphs.rewriting.rewrite import Rewritten, Rule, Rules, rewrite
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime import kernels
from onnxsmith.runtime.wider_types import LEFT_ALONE, cost, is_shifted, wider_types
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef, Parameter
from onnxsmith.types.dtypes import DType

#: The first opset whose Cast has an element type; all have those that are not listed.
_CAST_VERSIONS = {DType.BFLOAT16: 13, DType.FLOAT8E4M3FN: 19, DType.FLOAT8E5M2: 19}
#: What is added to uint64 in int64 so that the order stays, and the first opset whose Add broadcasts a scalar.
_LOWEST = -(2**63)
_ADDED_SCALARS = 7
#: The first opset whose Cast names its type by a number.
_OLDEST_CAST = 6
#: The first opset whose ReduceSum takes its axes as an input; those of ReduceL1 are an attribute for longer.
_AXES_TO_SUM_OVER = 13


def widened(model: onnx.ModelProto, *, lossy: bool = False) -> Rewritten:
    """The model with casts around every node that has no kernel; `lossy` where they may cost precision."""
    return rewrite(model, _rules(lossy=lossy))


@functools.cache
def _rules(*, lossy: bool) -> Rules:
    rule = _rule_for(lossy=lossy)
    return {("", name): rule for name in kernels.table() if name not in LEFT_ALONE}


def _rule_for(*, lossy: bool) -> Rule:
    def apply(site: Site) -> list[tuple[str, str]]:
        op = registry.find("", site.node.op_type, site.version)
        if op is None or not op.inputs:
            return []
        given = _types_of(op, site)
        wide = wider_types(op, given, lossy=lossy, reduction=site.text("reduction", "none"))
        if wide is None or not _can_cast(site, [given[each] for each in wide]):
            return []
        if _has_typed_by_others(op, site):
            return []
        is_moved = any(is_shifted(op.name, given[each], wide[each]) for each in wide)
        if is_moved and site.emit.version < _ADDED_SCALARS:
            return []
        _widen(op, site, given, wide)
        changes = dict.fromkeys(_told(op.name, given[each], wide[each]) for each in wide)
        return [("widened", f"there is no kernel for {'; '.join(changes)}")]

    return apply


def _told(operator: str, dtype: DType, wider: DType) -> str:
    words = cost(operator, dtype, wider)
    return f"{dtype.spelling}, computed in {wider.spelling}" + (f", {words}" if words else "")


def _formal(formals: tuple[Parameter, ...], position: int) -> Parameter:
    return formals[min(position, len(formals) - 1)]


def _types_of(op: OperatorDef, site: Site) -> dict[str, DType]:
    """The element type that each type variable stands for, as far as it is known."""
    found: dict[str, DType] = {}
    for position in range(len(site.node.input)):
        dtype = site.dtype(position)
        if dtype is not None:
            found.setdefault(_formal(op.inputs, position).type_name, dtype)
    return found


def _can_cast(site: Site, dtypes: list[DType]) -> bool:
    return site.emit.version >= max(_CAST_VERSIONS.get(each, _OLDEST_CAST) for each in dtypes)


def _has_typed_by_others(op: OperatorDef, site: Site) -> bool:
    """True if an output has a type of its own, which follows from attributes or from an input in ways not told."""
    variables = {each.type_name for each in op.inputs}
    for position, name in enumerate(site.node.output):
        formal = _formal(op.outputs, position)
        if name and formal.type_name not in variables and len(formal.types) > 1:
            return True
    return False


def _widen(op: OperatorDef, site: Site, given: dict[str, DType], wide: dict[str, DType]) -> None:
    emit = site.emit
    inputs = list(site.node.input)
    for position, name in enumerate(inputs):
        variable = _formal(op.inputs, position).type_name
        # A variadic input may have other types beside the one that is widened; one that is not known has this one.
        if name and variable in wide and site.dtype(position) in (None, given[variable]):
            inputs[position] = emit.cast(name, wide[variable])
            if is_shifted(op.name, given[variable], wide[variable]):
                inputs[position] = emit.op("Add", inputs[position], emit.constant(_LOWEST))
    outputs = list(site.node.output)
    after: list[tuple[str, str, DType, DType]] = []
    for position, name in enumerate(outputs):
        variable = _formal(op.outputs, position).type_name
        if name and variable in wide:
            outputs[position] = emit.names.after(name)
            after.append((outputs[position], name, given[variable], wide[variable]))
    if (
        op.name == "ReduceL1"
        and site.dtype(0) is DType.UINT64
        and wide[op.inputs[0].type_name] is DType.INT64
    ):
        _sum_up(site, inputs, outputs)
    else:
        site.same_node(inputs, outputs)
    for made, name, dtype, wider in after:
        # The lowest number added twice is none: it wraps around.
        is_moved = is_shifted(op.name, dtype, wider)
        back = emit.op("Add", made, emit.constant(_LOWEST)) if is_moved else made
        emit.cast(back, dtype, into=name)


def _sum_up(site: Site, inputs: list[str], outputs: list[str]) -> None:
    """The sum in place of ReduceL1: no unsigned number has a sign to leave out, but its bits in INT64 may have one."""
    axes = site.integers("axes")
    if axes and site.emit.version >= _AXES_TO_SUM_OVER:
        inputs = [inputs[0], site.emit.constant(axes)]
        site.same_node(inputs, outputs, without=["axes"]).op_type = "ReduceSum"
    else:
        site.same_node(inputs, outputs).op_type = "ReduceSum"
