"""Parameters: positional, keyword-only, defaults, optional and generic tensors, several results."""

from typing import Annotated, Optional

import numpy as np

from onnxsmith import DOUBLE, FLOAT, INT64, Dim
from onnxsmith import opset18 as op
from onnxsmith.errors import AnnotationError, MissingReturnError, ReturnTypeError
from tests.scripting.corpus import integer, matrix, options, refused, runs, scalar, vector

N, M = Dim("N"), Dim("M")


@runs(vector(1, 2), vector(3, 4))
def positional_only(x: FLOAT["N"], y: FLOAT["N"], /):
    return x - y


@runs(vector(1, 2), k=3)
@runs(vector(1, 2))
def keyword_only(x: FLOAT["N"], *, k: int = 2):
    return x * k


@runs(vector(1, 2))
@runs(vector(1, 2), vector(3, 4))
def tensor_that_may_be_none(x: FLOAT["N"], bias: FLOAT["N"] | None = None):
    if bias is None:
        return x
    return x + bias


@runs(vector(1, 2))
@runs(vector(1, 2), vector(3, 4))
def optional_of_typing(x: FLOAT["N"], bias: Optional[FLOAT["N"]] = None):  # noqa: UP045
    y = x * 2
    if bias is not None:
        y = y + bias
    return y


@runs(vector(1, 2), None, vector(5, 6))
@runs(vector(1, 2), vector(3, 4), vector(5, 6))
@runs(vector(1, 2))
def two_optional_inputs(x: FLOAT["N"], a: FLOAT["N"] | None = None, b: FLOAT["N"] | None = None):
    if a is not None and b is not None:
        return x + a * b
    if b is not None:
        return x - b
    return x


@runs(vector(1, 2))
@runs(np.array([1, 2], np.int64))
@runs(np.array([1.5, 2], np.float64))
def generic_input(x):
    return x + 1


@runs(vector(1, 2), vector(3, 4))
@runs(np.array([1, 2], np.int32), np.array([3, 4], np.int32))
def generic_inputs(x, y):
    return x * y - 2


@runs(matrix([1, 2], [3, 4]), vector(5, 6))
def names_of_dimensions(x: FLOAT["N", "M"], y: FLOAT["M"]) -> FLOAT["N", "M"]:
    return x + y


@runs(matrix([1, 2], [3, 4]))
def dimension_objects(x: FLOAT[N, M]) -> FLOAT[M, N]:
    return x.T


@runs(matrix([1, 2], [3, 4]))
def annotated(x: Annotated[FLOAT, "N", 2]) -> Annotated[FLOAT, 2, "N"]:
    return op.Transpose(x)


@runs(matrix([1, 2], [3, 4]))
def any_rank(x: FLOAT[...]) -> FLOAT[...]:
    return x * 2


@runs(vector(1, 2))
def return_annotation(x: FLOAT["N"]) -> FLOAT["N"]:
    return x


@runs(vector(1, 2))
def several_results(x: FLOAT["N"]) -> tuple[FLOAT["N"], INT64]:
    return x, op.Size(x)


@runs(vector(1, 2))
def number_as_result(x: FLOAT["N"]) -> tuple[FLOAT, INT64]:
    return 1, len(x)


@runs(vector(1, 2))
def constants_as_results(x: FLOAT["N"]):
    return x, 1, 2.5, True, np.array([1, 2], np.int64)


@runs(vector(1, 2))
def list_as_result(x: FLOAT["N"]):
    return [x, x + 1]


@runs()
def no_inputs():
    return op.Constant(value_floats=[1.0, 2.0]) * 2


@runs(np.array([1, 2], np.float64))
def other_element_types(x: DOUBLE["N"]):
    return x * 0.1 + 1


@runs(scalar(3), integer(2))
def scalars(x: FLOAT, n: INT64):
    return x * int(n), x / 2, n // 2


@runs(vector(1, 2))
@options(model_input_types={"data": FLOAT["N"]})
def types_at_export(data, weights=None):
    return data if weights is None else data * weights


@runs(vector(1, 2))
@options(model_input_types=[FLOAT["K"]], model_output_types=[FLOAT["K"]])
def types_by_position(data):
    return data * 2


@runs(vector(1, 2), vector(3, 4))
@options(model_io_types=FLOAT["N"])
def one_type_for_all(a, b):
    return a * b


@runs(vector(1, 2))
@options(model_opset_version=21, model_ir_version=10, model_producer_name="me")
def versions_at_export(x: FLOAT["N"]):
    return x * 2


@refused(ReturnTypeError)
def wrong_return_annotation(x: FLOAT["N"]) -> INT64["N"]:
    return x + 1  # here


@refused(ReturnTypeError)
def wrong_number_of_results(x: FLOAT["N"]) -> tuple[FLOAT["N"], FLOAT["N"]]:
    return x  # here


@refused(MissingReturnError)
def nothing_returned(x: FLOAT["N"]):
    x = x + 1


@refused(MissingReturnError)
def dict_returned(x: FLOAT["N"]):
    return {"x": x}  # here


@refused(AnnotationError)
def unreadable_annotation(x: "FLOAT[2.5]"):
    return x


@refused(AnnotationError, "has no element type")
@options(model_input_types={})
def model_of_untyped_input(x):
    return x + 1


@refused(ReturnTypeError, "a tuple inside a tuple")
def tuple_inside_tuple(x: FLOAT["N"]):
    return x, (x, x)  # here
