"""Scripts that call scripts: as ONNX functions, in place, with several results, from other modules."""

from collections.abc import Sequence

import numpy as np
import onnx

import onnxsmith
from onnxsmith import FLOAT, INT64, Opset, script
from onnxsmith import opset18 as op
from onnxsmith.errors import CallError, DTypeNotAllowedError, FunctionError, RecursiveFunctionError
from tests.scripting.corpus import ints, matrix, options, refused, runs, scalar, skips, vector
from tests.scripting.snippets import namesakes

local = Opset("test.local", 1)
UNKNOWN_OPERATOR = "nothing installed knows the operator"


@script
def square(x):
    return x * x


@script
def square_and_double(x: FLOAT[...]):
    return x * x, x + x


@script(local)
def in_a_domain(x, y):
    return x - y


@script(domain="test.other", overload="")
def in_another_domain(x, y):
    return in_a_domain(y, x)


@script(inline=True)
def put_in_place(x, k: int = 3):
    if x.sum() > 0:
        return x * k
    return x


@script
def with_optional(x: FLOAT["N"], bias: FLOAT["N"] | None = None):
    if bias is None:
        return x
    return x + bias


@script
def clipped(x: FLOAT["N"], low: FLOAT = 0.0):
    return op.Max(x, low)


@script
def with_branch(x: FLOAT):
    if x > 0:
        return x * 2
    return x * 0


@script
def with_loop(x, n: int = 2):
    for _ in range(n):
        x = x + x
    return x


@script
def calls_others(x):
    a, b = square_and_double(square(x))
    return a - b


@script
def parts_of(x: FLOAT["N"]) -> Sequence[FLOAT["M"]]:
    return op.SplitToSequence(x, 1)


@script
def count_of(x):
    return len(x)


@runs(vector(1, 2))
def function_call(x: FLOAT["N"]):
    return square(x) + square(x + 1)


@runs(vector(1, 2))
def several_results(x: FLOAT["N"]):
    a, b = square_and_double(x)
    return a * b


@runs(vector(1, 2))
def result_kept_as_tuple(x: FLOAT["N"]):
    both = square_and_double(x)
    return both[0] - both[1]


@runs(vector(1, 2), vector(5, 7))
def functions_of_domains(x: FLOAT["N"], y: FLOAT["N"]):
    return in_a_domain(x, y) * in_another_domain(x, y)


@runs(vector(1, 2))
@runs(vector(-1, -2))
def script_in_place(x: FLOAT["N"]):
    return put_in_place(x) + put_in_place(x, k=5)


@runs(vector(1, 2))
def optional_input_left_out(x: FLOAT["N"]):
    return with_optional(x) + with_optional(x, x) + with_optional(x, bias=None)


@runs(vector(1, -2))
def default_of_tensor(x: FLOAT["N"]):
    return clipped(x) + clipped(x, -1.0) + clipped(x, low=x[0])


@runs(scalar(2))
@runs(scalar(-2))
def function_with_branch(x: FLOAT):
    return with_branch(x) + with_branch(-x)


@runs(vector(1, 2))
def function_with_loop(x: FLOAT["N"]):
    return with_loop(x) + with_loop(x, n=0)


@runs(vector(1, 2))
def function_that_calls_functions(x: FLOAT["N"]):
    return calls_others(x) + calls_others(x * 2)


@runs(vector(1, 2))
@runs(vector(-1, -2))
def call_in_branch_and_loop(x: FLOAT["N"]):
    if x.sum() > 0:
        x = square(x)
    for _ in range(2):
        x = with_loop(x, n=1)
    return x


@runs(np.array([1, 2], np.float64), np.array([3, 4], np.int64))
def one_function_for_two_types(x: onnxsmith.DOUBLE["N"], n: INT64["N"]):
    return square(x), square(n)


@runs(vector(1, 2, 3))
def function_that_returns_a_sequence(x: FLOAT["N"]):
    parts = parts_of(x)
    return parts[0], parts[-1], len(parts)


@runs(vector(1, 2, 3))
def number_from_function(x: FLOAT["N"]):
    return x * count_of(x) + count_of(x) // 2


@runs(vector(1, 2))
def namesakes_of_two_modules(x: FLOAT["N"]):
    return square(x) + namesakes.square(x)


@runs(vector(1, 2))
@options(model_inline=True)
def dissolved_at_export(x: FLOAT["N"]):
    return calls_others(x) + with_loop(x)


@runs(vector(1, 2))
@options(model_functions=[square])
def function_carried_along(x: FLOAT["N"]):
    return x + 1


@runs(vector(1, 2))
@skips(plain=UNKNOWN_OPERATOR, eager=UNKNOWN_OPERATOR, runtime=UNKNOWN_OPERATOR, reference=UNKNOWN_OPERATOR)
def operator_of_unknown_domain(x: FLOAT["N"]):
    a, b = Opset("some.company", 3).Frobnicate(x, amount=2, mode="fast", outputs=2)
    return a, b


@runs(matrix([1, 2], [3, 4]))
@options(default_opset=17)
def opset_by_number(x: FLOAT["N", "M"]):
    return x * 2 + 1


@runs(matrix([1, 2], [3, 4]))
@options(default_opset=onnxsmith.opset16)
def opset_by_module(x: FLOAT["N", "M"]):
    return x.sum(0)


TRACED = onnxsmith.trace(lambda a, b: op.Relu(a - b), FLOAT["N"], FLOAT["N"])
TWO_OUTPUTS = onnxsmith.trace(lambda a: (a + 1, a * np.float32(3)), FLOAT["N"])


@runs(vector(1, 5), vector(3, 4))
@skips(plain="a model runs on arrays as on tensors, but knows no plain Python")
def model_called_as_function(x: FLOAT["N"], y: FLOAT["N"]):
    return TRACED(x, y) + TRACED(b=x, a=y)


@runs(vector(1, 5))
def model_with_two_outputs(x: FLOAT["N"]):
    a, b = TWO_OUTPUTS(x)
    return a - b


@runs(vector(1, 5))
@runs(vector(-1, -5))
def model_called_in_branch(x: FLOAT["N"]):
    if x.sum() > 0:
        x = TRACED(x, x * 0) + x
    return x


PROTO = onnxsmith.Model.from_proto(onnx.parser.parse_model(
    """<ir_version: 8, opset_import: ["" : 18]>
       weighted (float[N] x) => (float[N] y) <float w = {2.0}> { t = Mul(x, w) y = Neg(t) }"""
))  # fmt: skip


@runs(vector(1, 5))
def model_with_weights(x: FLOAT["N"]):
    return PROTO(x) + PROTO(x + 1)


@refused(RecursiveFunctionError)
def calls_itself(x: FLOAT["N"]):
    return calls_itself(x - 1)  # here


@refused(CallError, "square")
def too_many_arguments(x: FLOAT["N"]):
    return square(x, x)  # here


@refused(CallError)
def unknown_keyword(x: FLOAT["N"]):
    return square(y=x)  # here


@refused(DTypeNotAllowedError)
def argument_of_wrong_type(x: INT64["N"]):
    return clipped(x)  # here


def make(factor):
    @script
    def scaled_by(x: FLOAT["N"]):
        return x * factor

    return scaled_by


twice = make(2.0)


def make_other(factor):
    @script
    def scaled_by(x: FLOAT["N"]):
        return x - factor

    return scaled_by


another = make_other(3.0)


@runs(vector(1, 2))
def two_functions_of_one_name(x: FLOAT["N"]):
    return twice(x) + another(x)


@script
def by_element_type(x):
    if x.dtype == FLOAT:
        return x + 1
    return x - 1


@script
def by_rank(x):
    return x.reshape(-1) if x.ndim == 2 else x * 2


@runs(vector(1, 2), ints(1, 2))
@skips(plain="numpy's dtypes are not onnxsmith's types")
def function_that_asks_for_types(x: FLOAT["N"], n: INT64["N"]):
    return by_element_type(x), by_element_type(n)


@runs(matrix([1, 2], [3, 4]))
def function_that_asks_for_rank(x: FLOAT["N", "M"]):
    return by_rank(x), by_rank(x[0])
