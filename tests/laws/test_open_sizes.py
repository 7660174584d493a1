"""The law of open sizes: what is recorded for `N` elements runs on any number of them, none included.

Random programs of slices, joins and reshapes are recorded once. At each size they give what the same program gives at
once, and the sizes that were inferred for each step are those that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, Model, optimize, trace
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy import Array
from onnxsmith.types.value_types import TensorType

SIZES = (0, 1, 2, 5)
#: A step of a program: an array from the ones before it, all of them vectors.
Step = Callable[[Sequence[Array]], Array]

PLACES = st.sampled_from((0, 1, 2, 4, -1, -2, -4, None))
STRIDES = st.sampled_from((1, 1, 1, 2, -1, -2))
#: Which of the arrays so far, counted from the last.
BEFORE = st.integers(1, 4)

UNARY: dict[str, Callable[[Array], Array]] = {
    "flip": xp.flip,
    "roll": lambda x: xp.roll(x, 1),
    "tile": lambda x: xp.tile(x, 2),
    "repeat": lambda x: xp.repeat(x, 2),
    "pad": lambda x: xp.pad(x, (1, 2)),
    "diff": xp.diff,
    "cumsum": xp.cumsum,
    "sort": xp.sort,
    "zeros": lambda x: xp.zeros(x.shape),
    "places": lambda x: xp.astype(xp.arange(x.shape[0]), xp.float64),
    "size": lambda x: xp.astype(xp.reshape(xp.asarray(x.size), (1,)), xp.float64),
    "total": lambda x: xp.reshape(xp.sum(x), (1,)),
    "mean": lambda x: xp.reshape(xp.mean(x), (1,)),
    "column": lambda x: xp.reshape(xp.reshape(x, (-1, 1)), (-1,)),
    "rows": lambda x: xp.reshape(xp.broadcast_to(x, (3, *x.shape)), (-1,)),
    "last half": lambda x: x[x.shape[0] // 2 :],
    "but the last": lambda x: x[: x.shape[0] - 1],
    "middle": lambda x: xp.array_split(x, 3)[1],
    "some": lambda x: x[x > 1],
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "concat": lambda x, y: xp.concat([x, y]),
    "stack": lambda x, y: xp.reshape(xp.stack([x, x + y]), (-1,)),
    "add": lambda x, y: x + y,
    "outer": lambda x, y: xp.reshape(xp.outer(x, y), (-1,))[:20],
    "first of": lambda x, y: x[: y.shape[0]],
    "after": lambda x, y: x[y.shape[0] :],
}


def described(text: str, step: Step) -> Step:
    """With a text that a failure shows."""
    step.__qualname__ = step.__name__ = text
    return step


def slicing(start: int | None, end: int | None, stride: int, of: int) -> Step:
    return described(f"[{start}:{end}:{stride}] of {of}", lambda arrays: at(arrays, of)[start:end:stride])


def unary(name: str, of: int) -> Step:
    return described(f"{name} of {of}", lambda arrays: UNARY[name](at(arrays, of)))


def binary(name: str, left: int, right: int) -> Step:
    return described(
        f"{name} of {left} and {right}", lambda arrays: BINARY[name](at(arrays, left), at(arrays, right))
    )


def at(arrays: Sequence[Array], back: int) -> Array:
    return arrays[-min(back, len(arrays))]


SLICES = st.builds(slicing, PLACES, PLACES, STRIDES, BEFORE)
STEPS = st.one_of(
    SLICES,
    SLICES,
    st.builds(unary, st.sampled_from(sorted(UNARY)), BEFORE),
    st.builds(binary, st.sampled_from(sorted(BINARY)), BEFORE, BEFORE),
)


def run(program: Sequence[Step], x: Array) -> list[Array]:
    arrays = [x]
    for step in program:
        arrays.append(step(arrays))
    return arrays[1:]


def check_at(model: Model, program: Sequence[Step], size: int) -> None:
    x = np.arange(size) * 1.5
    try:
        expected = [np.asarray(each) for each in run(program, xp.asarray(x))]
    except OnnxsmithError:
        return  # sizes that do not fit together: what a model does is not this law's business
    found = model(x)
    for step, output, wanted, got in zip(
        program, model.outputs, expected, found if isinstance(found, tuple) else (found,), strict=True
    ):
        where = f"{step.__name__} at N = {size}"
        np.testing.assert_array_equal(np.asarray(got), wanted, err_msg=where)
        assert isinstance(output.type, TensorType), where
        assert output.type.shape is not None, where
        (inferred,) = output.type.shape
        if isinstance(inferred, str) and "N" in inferred:
            inferred = eval(inferred, {"min": min, "max": max}, {"N": size})
        assert not isinstance(inferred, int) or inferred == len(wanted), where


@settings(max_examples=60)
@given(program=st.lists(STEPS, min_size=1, max_size=5))
def test_a_recorded_program_is_right_at_every_size(program: list[Step]) -> None:
    def recorded(t: DOUBLE) -> tuple[Tensor, ...]:
        return tuple(each.tensor for each in run(program, xp.asarray(t)))

    try:
        model = trace(recorded, DOUBLE["N"])
    except OnnxsmithError:
        return
    for each in (model, optimize(model)):
        for size in SIZES:
            check_at(each, program, size)
