"""Failures of a runtime, in plain words.

Takes ONNX Runtime's and the reference evaluator's exceptions apart; decides nothing about what happens next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from onnxsmith.errors import NotRunnableError, OperatorFailedError
from onnxsmith.errors.kinds import BY_ZERO, NO_MEMORY
from onnxsmith.graphs.raising_nodes import LIMITED, RAISED
from onnxsmith.runtime.facts.gating import failed_check
from onnxsmith.runtime.single_node import Call
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.types.dtypes import DType

_STATUS = re.compile(r"\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ")
#: Bodies come inside out, so that the reason is behind the last of these.
_WHILE_RUNNING = re.compile(r"^.*Non-zero status code returned while running .*? Status Message: ", re.DOTALL)
#: A C++ assertion: file, line, signature, the condition "was false.", then words for people.
_ASSERTION = re.compile(r"(?:/|[A-Za-z]:\\)\S+\.(?:cc|cpp|cxx|h|hpp):\d+ .*? was false\.\s*", re.DOTALL)
#: A C++ throw: file, line, signature, then words for people.
_THROW = re.compile(
    r"(?:/|[A-Za-z]:\\)\S+\.(?:cc|cpp|cxx|h|hpp):\d+ [^\n]*?\)(?: const)?(?: \[with [^\]]*\])?\s+", re.DOTALL
)
#: A status: file, line, function, then words for people.
_FILE = re.compile(r"\S+\.(?:cc|cpp|cxx|h|hpp):\d+ \S+\s+")
_NOISE = (
    re.compile(r"\[(?:Shape|Type)InferenceError\]\s*"),
    re.compile(r"\(op_type:[^)]*\):?\s*"),
    re.compile(r"\s*Name:'[^']*'"),
    re.compile(r"^Load model from .*? failed:\s*"),
    re.compile(r"^Exception during (?:loading|initialization):\s*"),
    re.compile(r"^This is an invalid model\.\s*"),
    re.compile(r"^Error:\s*"),
    re.compile(r"\s*in node \(\)"),
)
_UNKNOWN_OPSET = re.compile(
    r"only \*guarantees\* support for models stamped .* Opset (?P<version>\d+) is under development"
)
_NOT_SUPPORTED = re.compile(
    r"not[ _]implemented|not (?:yet |currently |been )?supported|unsupported|only supports"
    r"|doesn't support|does not support"
    r"|currently supports|no implementation|not support|not a registered function/op|MLDataType for|to MLDataType"
    # A Scan whose body gives results with ranks that only its values tell, which ONNX allows.
    r"|must have the shape set for all outputs"
    # A Scan over nothing, which gives its states as they came.
    r"|Invalid dim0_offset"
    # A kernel that reads all inputs in one type, where ONNX allows two.
    r"|Tensor type mismatch",
    re.IGNORECASE,
)


# A node of a function is called by the name of the call, too, where the runtime has put it in the place of the call.
_RAISED_NAME = re.compile(rf"Name:'(?:_inlfunc_\w*_)?{RAISED}(?P<words>[^'|\n]*)\|\w*' Status Message")


class NoReference(Exception):
    """The reference evaluator does not have an operator of the model."""


def plain_reason(error: BaseException) -> str:
    """The part of an exception's text that a user can act on."""
    check = failed_check(str(error))
    if check is not None:
        return check.reason
    raised = _RAISED_NAME.search(str(error))
    if raised is not None:
        limit = f"{RAISED}{raised['words']}".partition(LIMITED)[2]
        return limit or f"it raises {raised['words']}"
    text = _STATUS.sub("", _shortened(str(error).strip()))
    text = _WHILE_RUNNING.sub("", text)
    text = text.partition("\nStacktrace")[0]
    unknown = _UNKNOWN_OPSET.search(text)
    if unknown is not None:
        return f"it does not know opset {unknown['version']} yet"
    for pattern in (_ASSERTION, _THROW, _FILE, *_NOISE):
        stripped = pattern.sub("", text, count=1).strip()
        # An assertion without words for people still says more as its condition than as nothing.
        text = stripped or text
    if not text:
        return type(error).__name__
    if _BY_ZERO.fullmatch(text) is not None:
        return BY_ZERO  # as every road says it
    if isinstance(error, MemoryError) or _NO_MEMORY.search(text) is not None:
        return NO_MEMORY
    return " ".join(text.split())


def _shortened(text: str) -> str:
    """A text that the patterns here are quick on. Names of a stranger's model may have a million letters."""
    half = _LONGEST_TEXT // 2
    return text if len(text) <= _LONGEST_TEXT else f"{text[:half]} ... {text[-half:]}"


_LONGEST_TEXT = 20_000
_NO_MEMORY = re.compile(
    r"bad_alloc|Failed to allocate memory|Tensor storage size overflowed|output tensor would require more than"
    r"|^Integer overflow$"
)
_BY_ZERO = re.compile(r"integer (?:division|modulo) by zero", re.IGNORECASE)
_NEWEST_OPSET = re.compile(r"support for domain ai\.onnx is till opset (?P<version>\d+)")


_OTHER_SIZE = re.compile(r"output OrtValue provided for output '(?P<name>[^']*)' of node")


def output_of_another_size(error: BaseException) -> str | None:
    """The output that does not fit the memory that a caller gave for it; None for any other error."""
    found = _OTHER_SIZE.search(_shortened(str(error)))
    return None if found is None else found["name"]


_MISSING_KERNEL = re.compile(r"Could not find an implementation for (?P<operator>\w+)\((?P<version>\d+)\)")


_UNMADE = re.compile(r"Unable to find input '(?P<name>[^']*)' in known results")


def unmade_value(error: BaseException) -> str | None:
    """The value that the reference evaluator misses when a node reads it; None for any other error."""
    cause: BaseException | None = error
    while cause is not None:
        found = _UNMADE.search(_shortened(str(cause)))
        if found is not None:
            return found["name"]
        cause = cause.__cause__ or cause.__context__
    return None


def missing_kernel(error: BaseException | None) -> str | None:
    """The operator that ONNX Runtime says it has no kernel for; None for any other error."""
    found = _MISSING_KERNEL.search(str(error))
    return None if found is None else found["operator"]


def missing_definition(error: BaseException | None) -> int | None:
    """The version of the operator that ONNX Runtime says it has no kernel for; None for any other error."""
    found = _MISSING_KERNEL.search(str(error))
    return None if found is None else int(found["version"])


def newest_opset(error: BaseException | None) -> int | None:
    """The newest opset that ONNX Runtime says it has when it refuses a newer one; None for any other error."""
    found = _NEWEST_OPSET.search(str(error))
    return None if found is None else int(found["version"])


class FailedNode(NamedTuple):
    """The node that a runtime says it failed in."""

    operator: str
    name: str


_NODE = re.compile(r"while running (?P<operator>\S+) node\. Name:'(?P<name>[^']*)'")


def failed_node(error: BaseException) -> FailedNode | None:
    """The node that an exception of ONNX Runtime names, or None."""
    check = failed_check(str(error))
    if check is not None:
        return FailedNode(check.operator, check.node)
    # Bodies come inside out: the last one named is the innermost.
    found = [FailedNode(match["operator"], match["name"]) for match in _NODE.finditer(str(error))]
    return found[-1] if found else None


_NOT_REGISTERED = " is not a registered function/op"
_UNKNOWN_OPERATOR = re.compile(r"(?P<operator>[\w.]*:?\w+)\(-?\d+\)$")
#: No operator that anybody means has a longer name.
_LONGEST_NAME = 300


def unknown_operator(text: str) -> str | None:
    """The operator that ONNX Runtime says it does not know, as `domain:Operator`, or None."""
    before, said, _ = text.partition(_NOT_REGISTERED)
    match = _UNKNOWN_OPERATOR.search(before[-_LONGEST_NAME:]) if said else None
    return None if match is None else match["operator"]


def says_not_supported(error: BaseException) -> bool:
    """True if a runtime says that it cannot do this, as opposed to that this cannot be done."""
    return isinstance(error, NotImplementedError) or _NOT_SUPPORTED.search(str(error)) is not None


def described_value(value: Any) -> str:
    """An input's element type and shape, or what else it is."""
    if isinstance(value, np.ndarray | DeviceArray):
        array = cast("np.ndarray[Any, Any]", value)
        dtype = DType.from_numpy(array.dtype)
        where = f" on {value.device}" if isinstance(value, DeviceArray) else ""
        return f"{array.dtype if dtype is None else dtype.spelling} of shape {array.shape}{where}"
    if isinstance(value, list | tuple):
        return f"sequence of {len(value)}" + (f" ({described_value(value[0])}, ...)" if value else "")  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, dict):
        return f"map of {len(value)} entries"  # pyright: ignore[reportUnknownArgumentType]
    return "absent" if value is None else type(value).__name__


def input_name(op: OperatorDef, position: int) -> str:
    """The schema's name of an input; variadic ones are counted."""
    if position < len(op.inputs) and op.inputs[position].option != "variadic":
        return op.inputs[position].name
    if op.inputs and op.inputs[-1].option == "variadic":
        return f"{op.inputs[-1].name}[{position - len(op.inputs) + 1}]"
    return f"input {position}"


def described_inputs(call: Call, inputs: Sequence[Any]) -> str:
    """Each input's name, element type and shape."""
    names = [input_name(call.op, k) for k in range(len(call.input_types))] + list(call.captured)
    shown = [
        f"{name}: {described_value(value)}"
        for name, value in zip(names, inputs, strict=False)
        if value is not None
    ]
    return ", ".join(shown) or "no inputs"


def operator_failed(call: Call, inputs: Sequence[Any], reason: str) -> OperatorFailedError:
    """The error for a call that a runtime can run in general, but not on these inputs."""
    return OperatorFailedError(
        f"{call.op.qualified_name} cannot run on ({described_inputs(call, inputs)}): {reason}"
    )


def not_runnable(call: Call, inputs: Sequence[Any], tried: Sequence[tuple[str, str]]) -> NotRunnableError:
    """The error for a call that nothing installed can run; `tried` is who was asked and what they said."""
    told = "\n".join(f"{who}: {why}" for who, why in tried)
    if not call.op.is_known:  # nobody has more to say than that they do not know it
        asked = " and ".join(who for who, _ in tried)
        told = (
            f"{asked} do not know the operator: a script says what it computes, "
            f"@script(Opset({call.op.domain!r}, {call.op.since_version})) def {call.op.name}(…); "
            "onnxsmith.runtime.kernel makes a Python function its kernel, and register_custom_ops loads a library that "
            "has it; or save the model for a runtime that has it"
        )
    return NotRunnableError(
        f"nothing installed can run {call.op.qualified_name}-{call.op.since_version}"
        f" on ({described_inputs(call, inputs)})",
        help=told or None,
    )
