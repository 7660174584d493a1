"""Scripts, what is made of them, and the objects that hold them: copied, pickled, and sent to other processes."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from onnxsmith import FLOAT, jit, script
from onnxsmith import opset18 as op

X = np.float32([1, 2, 3])
WEIGHT = np.float32([10, 20, 30])

#: A program that is run as `__main__`: a helper with control flow, a script, one in a function, one in a class.
PROGRAM = """
import copy, pickle, sys
import multiprocessing
import numpy as np
from onnxsmith import FLOAT, jit, script, trace, opset18 as op

X = np.float32([1, 2, 3])
WEIGHT = np.float32([10, 20, 30])

def helper(x):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        return x * 2.0
    return x - 1.0

@script
def top(x: FLOAT["N"]):
    for _ in range(2):
        x = helper(x)
    return x * WEIGHT

def make(factor):
    @script
    def local(x: FLOAT["N"]):
        return top(x) * factor
    return local

class Layer:
    def __init__(self):
        self.weight = WEIGHT

    @script
    def forward(self, x: FLOAT["N"]):
        return x + self.weight

def run(called, x):
    results = [np.asarray(called(x))]
    if hasattr(called, "to_model"):
        results.append(called.to_model()(x))
    return results

def made():
    large = np.ones(1000, np.float32)
    model = trace(lambda x: op.Relu(x * WEIGHT) + op.ReduceSum(large), FLOAT["N"])
    return [top, jit(top), model, Layer().forward, Layer()]
"""

SPAWNING = """
if __name__ == "__main__":
    objects = [each for each in made() if callable(each)]
    objects += [make(3.0)] if "by value" in sys.argv else []
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for each in objects * 2:  # before a call, and after one
            there = pool.apply(run, (each, X))
            for result in there:
                np.testing.assert_array_equal(result, each(X))
    print("equal")
"""

WRITING = """
if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        scripts = [top, make(3.0)]
        pickle.dump([[each(X) for each in scripts], *scripts, script(lambda x: x + WEIGHT)], file)
"""

READING = """
import pickle, sys
import numpy as np
X = np.float32([1, 2, 3])
with open(sys.argv[1], "rb") as file:
    expected, *scripts, by_lambda = pickle.load(file)
for each, result in zip(scripts, expected, strict=True):
    np.testing.assert_array_equal(each(X), result)
    np.testing.assert_array_equal(each.to_model()(X), result)
assert "def top(x" in scripts[0].source
np.testing.assert_array_equal(by_lambda(X), X + np.float32([10, 20, 30]))
print("equal")
"""


def run_program(place: Path, *arguments: str, hides_cloudpickle: bool = False) -> str:
    start = [sys.executable, str(place)]
    if hides_cloudpickle:
        text = "import sys; sys.modules['cloudpickle'] = None\n"
        place.write_text(text + place.read_text())
    done = subprocess.run([*start, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_program_sends_its_scripts_to_processes_that_it_spawns(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + SPAWNING)
    assert run_program(program, "by value") == "equal"


def test_it_does_so_without_cloudpickle(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + SPAWNING)
    assert run_program(program, hides_cloudpickle=True) == "equal"


@pytest.mark.parametrize("is_edited", [False, True, None])
def test_scripts_of_main_are_staged_where_their_file_is_not_the_same(
    tmp_path: Path, is_edited: bool | None
) -> None:
    program, reader, written = (tmp_path / each for each in ("program.py", "reader.py", "scripts.pickle"))
    program.write_text(PROGRAM + WRITING)
    reader.write_text(READING)
    run_program(program, str(written))
    if is_edited is None:
        program.unlink()
    elif is_edited:
        program.write_text("def helper(x):\n    return x\n" * 20 + program.read_text())
    assert run_program(reader, str(written)) == "equal"


# -- in one process ------------------------------------------------------------------------------------------


@script
def at_the_top(x: FLOAT["N"]):
    return op.Relu(x) * WEIGHT


def in_a_function(factor: float):
    @script
    def local(x: FLOAT["N"]):
        return at_the_top(x) * factor

    return local


class Layer:
    """A user's class with a script for a method."""

    def __init__(self, weight: np.ndarray) -> None:
        self.weight = weight

    @script
    def forward(self, x: FLOAT["N"]):
        return x * self.weight


WAYS = [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
WAYS.append(lambda each: pickle.loads(cloudpickle.dumps(each)))


@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_copies_do_the_same(way, is_called: bool) -> None:
    layer = Layer(WEIGHT)
    for each in (at_the_top, in_a_function(2.0), jit(at_the_top), script(lambda x: x + 1.0), layer.forward):
        if is_called:
            each(X)
        np.testing.assert_array_equal(way(each)(X), each(X))


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_copy_of_an_object_has_scripts_of_its_own(way) -> None:
    layer = Layer(WEIGHT)
    layer.forward(X)
    other = way(layer)
    other.weight = WEIGHT * 2
    np.testing.assert_array_equal(other.forward(X), X * WEIGHT * 2)
    np.testing.assert_array_equal(layer.forward(X), X * WEIGHT)


def test_a_script_of_a_module_goes_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scripts_of_a_module.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("scripts_of_a_module")
    for dumps in (pickle.dumps, cloudpickle.dumps):
        written = dumps(module.top)
        assert len(written) < 200
        assert pickle.loads(written) is module.top


def test_options_of_a_script_travel() -> None:
    made = script(lambda x: x + 1.0, domain="mine", name="plus one", inline=True)
    other = pickle.loads(pickle.dumps(made))
    assert (other.domain, other.onnx_name, other.is_inline) == ("mine", "plus one", True)


def test_without_cloudpickle_a_local_script_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(pickle.PicklingError, match="install cloudpickle"):
        pickle.dumps(in_a_function(2.0))
