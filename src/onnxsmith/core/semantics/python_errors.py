"""Errors of Python's own code that was given a symbolic value: `json.dumps(len(x))`, `"%d" % n`, `torch.relu(x)`.

C code and libraries look for an int or an array, and raise whatever they raise for strangers. The eager run has a
Python number there, so that the error is none of the user's: one of ours says which call needs the value. Errors that
the user's own code raises, and mistakes that have nothing to do with a symbolic value, stay as they are.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping
from typing import cast

from onnxsmith.core.instructions import Evaluation
from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.dimensions import Dimensions
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.semantics.numpy_calls import operator_for
from onnxsmith.core.semantics.unknown_method import unknown_method
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.errors import OnnxsmithError, TracedValueError
from onnxsmith.source import PACKAGE_DIRECTORY, can_be_shown, is_library, position_span, text_of

#: Errors that say something of the program itself.
_OF_THE_PROGRAM = (
    *(LookupError, ZeroDivisionError, AssertionError, NameError, StopIteration, StopAsyncIteration),
    *(ImportError, OSError, SyntaxError, RecursionError, MemoryError, Warning),
)
#: Arguments that do not fit the parameters of a function.
_WRONG_CALL = re.compile(r"[\w.<>]+\(\) (missing|takes|got)\b")
#: Parts of an expression that make a number of a tensor.
_MAKES_NUMBER = re.compile(r"\.(shape|size|ndim)\b|\b(len|int|float)\(")
#: Instructions that hand values to code that is not the user's.
_HANDING_OVER = ("CALL", "BINARY_OP", "COMPARE_OP", "CONTAINS_OP", "FORMAT", "CONVERT_VALUE")
#: Those of ours that hand on what the user's code hands over.
_HANDING_ON = ("CALL_FUNCTION_EX", "COMPARE_OP")
#: How deep a value is looked for in containers.
_DEEPEST = 3


def refusal_for(error: Exception) -> OnnxsmithError | None:
    """The error to raise in place of Python's; None where that has another reason than a symbolic value."""
    if isinstance(error, OnnxsmithError):
        return None
    if isinstance(error, AttributeError) and error.obj is not None:
        return unknown_method(error)
    if isinstance(error, _OF_THE_PROGRAM) or _WRONG_CALL.match(str(error)):
        return None
    place = _users_place(error.__traceback__)
    if place is None:
        return None
    frame, last = place.tb_frame, place.tb_lasti
    named = _values_read(frame, last)
    values = list(named.values())
    found = next((each for value in values if (each := _symbolic_in(value)) is not None), None)
    if found is None:
        return None
    span = position_span(frame.f_code, last, place.tb_lineno)
    text = text_of(span) or ""
    called = text.partition("(")[0].strip()
    name = called.rpartition(".")[2]
    outputs = next((each for each in values if isinstance(each, tuple) and _is_of_outputs(each)), None)
    if outputs is not None:
        made = TracedValueError(
            f"this operator has {len(outputs)} results, in a tuple, and Python computes with the tuple: {error}",
            help="name them, as in values, indices = op.TopK(x, k), or take one: …[0]",
        )
    elif "NoneType" in str(error) and (absent := [name for name, each in named.items() if each is None]):
        made = TracedValueError(
            f"'{absent[0]}' is None here, and Python computes with it and a tensor: {error}",
            help=f"write it under if {absent[0]} is not None: …, or give the parameter no default",
        )
    elif isinstance(found, Tensor) and not isinstance(found, Number) and not _MAKES_NUMBER.search(text):
        meant = operator_for(name, operators_for(found).version) if name.isidentifier() else None
        made = TracedValueError(
            f"this code takes arrays and numbers, and is given a tensor that exists only when the model runs: {error}",
            help=f"op.{meant}(…)" if meant else "write it with ONNX's operators, op.…",
        )
    else:
        made = TracedValueError(
            f"Python needs a number that is known only when the model runs: {error}",
            help="compute with the number itself, do this in an eager run, "
            "or pass the result as an argument; a loop over static_range(…) has Python ints",
        )
    return made.locate(span).with_traceback(error.__traceback__)


def _users_place(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The place in the user's code that handed values over to the code that raised an error."""
    found: types.TracebackType | None = None
    is_handed_over = False
    while traceback is not None:
        code = traceback.tb_frame.f_code
        now = Evaluation(code, traceback.tb_lasti).now
        instruction = "" if now is None else now.opname
        if code.co_filename.startswith(PACKAGE_DIRECTORY):
            # Ours hand a call or a comparison on without looking at it, or else the error is theirs. Python's own
            # error for numbers that are known, such as the base of `math.log(x, -2)`, is that of the eager run.
            is_handed_over = (
                found is not None
                and instruction in _HANDING_ON
                and any(_symbolic_in(each) is not None for each in traceback.tb_frame.f_locals.values())
            )
        elif not is_library(code.co_filename) and can_be_shown(code):
            found, is_handed_over = traceback, instruction.startswith(_HANDING_OVER)
        elif found is not None:
            is_handed_over = True
        traceback = traceback.tb_next
    return found if is_handed_over else None


def _values_read(frame: types.FrameType, last: int) -> dict[str, UserValue]:
    """The names that the expression at an instruction reads, with their values."""
    found: dict[str, UserValue] = {}
    for name in Evaluation(frame.f_code, last).names_read():
        for scope in (frame.f_locals, frame.f_globals):
            if name in scope:
                found[name] = scope[name]
                break
    return found


def _symbolic_in(value: UserValue, depth: int = 0) -> object | None:
    """A symbolic value that a value is, or holds."""
    if isinstance(value, Value | Carrier):
        return value if value.is_symbolic else None
    if isinstance(value, Dimensions):
        return value
    if depth == _DEEPEST or isinstance(value, str | bytes | types.ModuleType | type):
        return None
    if isinstance(value, Mapping):
        items: Iterable[UserValue] = [*cast("Mapping[str, UserValue]", value).values()]
    elif isinstance(value, list | tuple | set | frozenset):
        items = list(cast("Iterable[UserValue]", value))
    elif callable(value) or type(value).__module__.startswith("onnxsmith."):
        return None  # such as what staging puts beside the user's variables
    else:
        items = list(getattr(value, "__dict__", {}).values())
    for each in items[:64]:
        found = _symbolic_in(each, depth + 1)
        if found is not None:
            return found
    return None


def _is_of_outputs(value: tuple[object, ...]) -> bool:
    return len(value) > 1 and all(isinstance(each, Tensor) and each.is_symbolic for each in value)
