"""However an operator's outputs are unpacked: they are its outputs, or it is refused. Never rows in their place."""

import importlib.util
import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from onnxsmith import FLOAT, Opset, errors, script
from onnxsmith import opset21 as op

LETTERS = "abcd"


class Operator(NamedTuple):
    """A call of x, the shape of x that makes the first output have as many rows, the most outputs."""

    call: str
    shape: tuple[int, ...]
    most: int


OPERATORS = {
    "MaxPool": Operator("op.MaxPool(x, kernel_shape=[2])", (1, 4), 2),
    "Dropout": Operator("op.Dropout(x)", (3,), 2),
    "LayerNormalization": Operator("op.LayerNormalization(x, np.ones(3, np.float32))", (3,), 3),
    "GRU": Operator(
        "op.GRU(x, np.ones((1, 6, 3), np.float32), np.ones((1, 6, 2), np.float32), hidden_size=2)", (1, 3), 2
    ),
    "Unique": Operator("op.Unique(x)", (), 4),
}

#: Ways to write it: `T` are the variables, `CALL` the call, `N` the number of outputs.
SPELLINGS = {
    "at the call": "T = CALL",
    "said by the call": "p = CALL_N\n    T = p",
    "in brackets": "[T] = CALL",
    "later": "p = CALL\n    T = p",
    "by the walrus": "T = (p := CALL)",
    "a choice": "T = CALL if c else CALL",
    "a choice that is known": "T = CALL if 1 else CALL",
    "or": "T = CALL or x",
    "a branch": "p = CALL\n    if c:\n        p = CALL\n    T = p",
    "a loop over results": "for T in [CALL]:\n        pass",
    "a loop over results that follow": "for T, q in zip([CALL], [x]):\n        pass",
    "carried": "p = CALL\n    for _ in range(n):\n        p = CALL\n    T = p",
    "nested": "(T), q = CALL, x",
    "from a tuple": "T = (CALL,)[0]",
    "from a dict": "T = {'p': CALL}['p']",
    "from a helper": "T = helper(x)",
    "from a lambda": "T = (lambda: CALL)()",
    "tuple()": "T = tuple(CALL)",
    "list()": "T = list(CALL)",
    "starred in a list": "T = [*CALL]",
    "starred": "a, *rest = CALL\n    TAIL = rest",
    "a comprehension": "T = [(T) for T in [CALL]][0]",
    "a helper with as many parameters": "T = spread(*CALL)",
}

PROGRAM = """\
import numpy as np
from onnxsmith import BOOL, FLOAT, INT64, opset21 as op, script, trace


def helper(x):
    return CALL


def spread(*outputs):
    return outputs


@script
def function(x: FLOAT[SHAPE], c: BOOL, n: INT64):
    STATEMENT
    return T


model = function.to_model()
"""


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", OPERATORS)
def test_outputs_or_refused(name: str, spelling: str, tmp_path: Path) -> None:
    operator = OPERATORS[name]
    for count in range(2, operator.most + 1):
        shape = (count, *operator.shape)
        variables = ", ".join(LETTERS[:count])
        text = PROGRAM.replace("STATEMENT", SPELLINGS[spelling]).replace("SHAPE", ", ".join(map(str, shape)))
        text = text.replace("CALL_N", f"{operator.call[:-1]}, outputs={count})").replace(
            "CALL", operator.call
        )
        text = text.replace("TAIL", ", ".join(LETTERS[1:count]) + ",").replace("(T)", f"({variables})")
        text = text.replace(" T", f" {variables}").replace("[T]", f"[{variables}]")
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        said = f"{operator.call[:-1]}, outputs={count})"
        expected = eval(said, {"op": op, "np": np, "x": x})
        try:
            module = load(tmp_path / f"{name}_{count}.py", text)
        except errors.OnnxsmithError:
            if spelling in ("at the call", "said by the call", "in brackets"):
                raise
            continue
        found = module.model(x, np.array(True), np.array(1))
        assert len(found) == count
        for each, other in itertools.zip_longest(found, expected):
            np.testing.assert_array_equal(each, other)


def load(file: Path, text: str) -> Any:
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_operator_that_nobody_knows() -> None:
    mine = Opset("my.domain", 1)

    @script
    def at_the_call(x: FLOAT[2, 3]):
        y, z = mine.Twice(x)
        return y, z

    def later(x: FLOAT[2, 3]):
        p = mine.Twice(x)
        y, z = p
        return y, z

    assert [len(node.output) for node in at_the_call.to_model().proto.graph.node] == [2]
    with pytest.raises(errors.OutputCountError, match="Twice was called for, and 2 are wanted"):
        script(later)


def test_rows_of_what_has_no_other_outputs() -> None:
    @script(default_opset=op)
    def one(x: FLOAT[2, 3]):
        return x + 1.0

    @script
    def rows(x: FLOAT[2, 3]):
        a, b = one(x)
        c, d = op.Relu(x)
        total, _ = op.MaxPool(x[None], kernel_shape=[2])
        e, f = total[0]
        return a - b + c - d, e - f

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for found, expected in zip(rows.to_model()(x), rows(x), strict=True):
        np.testing.assert_array_equal(found, expected)
