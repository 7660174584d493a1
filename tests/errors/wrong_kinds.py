"""The law of wrong calls: any public function on values of the wrong kind succeeds, or raises an error of ours.

The names are those of the reference (`tools.reference.groups`), the methods those that `dir` lists on objects of the
public classes, the operators those of tensors and arrays. A call is right but for some arguments: those have values of
another kind, or a keyword is made up.

Python's own TypeError for arguments that fit no parameter is accepted where none of our code has begun: it stands at
the user's line, and says what is wrong.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import operator
import os
import random
import signal
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import onnxsmith
from onnxsmith import FLOAT, INT64, Model, script, trace
from onnxsmith import numpy as xp
from onnxsmith import opset21 as op
from onnxsmith.errors import MissingDependencyError, OnnxsmithError
from tests.laws.named import Law, Verdict
from tools.reference.groups import ELEMENT_TYPES, MAIN, NUMPY

#: What is not called, with the reason.
LEFT_OUT = {
    "onnxsmith.Model.show": "opens a browser",
    "onnxsmith.runtime.clear_cache": "takes nothing",
    **dict.fromkeys(
        (
            *(
                "xp.Array.rewrite",
                "xp.Array.put_back",
                "xp.Array.made_of",
                "xp.Array.joined_traits",
                "xp.Array.grown",
            ),
            *("script.completed", "nodes.type_of", "nodes.of_ir", "nodes.function_of", "nodes.bodies_of"),
            *("script.bind", "Tensor.as_number", "Tensor.as_shape", "optimizer.update", "script.function"),
            *("jit.model_for", "Weights.of", "xp.Array.is_like", "xp.Array.replay", "xp.Array.undo"),
        ),
        "called by other parts of the package, with values that these make",
    ),
    "onnxsmith.DType": "an enumeration, whose call is that of Python's enum",
    "nodes.count": "a method of Python's sequences, whose errors are Python's",
    "nodes.index": "a method of Python's sequences, whose errors are Python's",
    **{
        f"onnxsmith.{name}": "an element type, whose brackets are annotations"
        for name in ELEMENT_TYPES.split()
    },
}
#: Classes whose objects the library makes; users read them, and do not call their constructors.
_MADE_BY_US = (
    *(
        "MatchedTensor",
        "Match",
        "MatchExplanation",
        "PassedModel",
        "Report",
        "Edit",
        "NodeNote",
        "Comparison",
    ),
    *("ComparedNode", "Difference", "Change", "Magnitude", "ExportedModel", "ExportReport", "ConvertedModel"),
    *(
        "ConversionReport",
        "Discrepancy",
        "Signature",
        "Profile",
        "ProfileComparison",
        "ProfiledNode",
        "SourceLine",
    ),
    *("Times", "Kernel", "ProfileRow", "ComparedRow", "Circumstances", "Nodes", "Node", "Graph", "NodeValue"),
    *("Summary", "Equality", "ModelWeights", "WeightInfo", "Count", "SideBySide", "Row", "Step", "Note"),
)
_SECONDS = 20


def _generator() -> Iterator[int]:
    yield 1


def _endless() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


class _Class:
    """A class where an object belongs; it can be called with anything, as a function can."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass


def _plain(x: Any) -> Any:
    return x


def _wrong_values() -> list[Any]:
    """Values that are of the wrong kind nearly everywhere; new ones for each call."""
    return [
        *(
            None,
            3,
            -1,
            True,
            2.5,
            float("nan"),
            "text",
            "",
            b"bytes",
            [],
            {},
            (),
            [None],
            {"a": None},
            {1: 2},
            {b"x": 1.0},
            [1, "two"],
            [1.0, [2.0, 3.0]],
            10**400,
            [0, -(10**400)],
            _endless(),
            {"a": _endless()},
        ),
        *(
            object(),
            _Class,
            _plain,
            lambda *_: _endless(),
            lambda *_: object(),
            _generator(),
            {1, 2},
            1j,
            slice(None),
            Ellipsis,
            NotImplemented,
            Path("nowhere"),
        ),
        *(
            np.array(["a", "b"]),
            np.array(None),
            np.zeros((2, 3), np.float32),
            np.array([1j]),
            np.array([[1.0, 2.0], [3, 4]], object),
            np.float16(1),
            np.int8(1),
            np.ma.array(np.ones((2, 3), np.float32), mask=np.eye(2, 3, dtype=bool)),
        ),
        *(
            _MODEL,
            Model,
            FLOAT,
            FLOAT["N"],
            _scripted,
            xp.array([1.0, 2.0]),
            np.dtype("U3"),
            range(3),
            io.BytesIO(b"x"),
        ),
        *(
            10**400,
            -(2**63) - 1,
            float("inf"),
            "\ud800",
            "a\0b",
            float,
            int,
            np.float32,
            np.datetime64("2020"),
            np.timedelta64(3, "s"),
            np.timedelta64(3, "D"),
            np.array([2, 3]),
            np.array([np.datetime64("2020")]),
            [10**400],
            ["\ud800"],
            bytearray(b"x"),
            memoryview(b"x"),
        ),
    ]


_MODEL = trace(lambda x: op.Relu(x @ np.ones((3, 3), np.float32)) + 1.0, FLOAT["N", 3])


@script
def _scripted(x: FLOAT["N"], n: INT64):
    for _ in range(n):
        x = x + 1.0
    return x


#: A right value by the name of the parameter.
_RIGHT: dict[str, Callable[[], Any]] = {
    "model": lambda: _MODEL,
    "other": lambda: _MODEL,
    "first": lambda: _MODEL,
    "function": lambda: lambda x: x + 1.0,
    "loss": lambda: lambda x: x,
    "path": lambda: "out.onnx",
    "folder": lambda: "out",
    "script": lambda: _scripted,
    "text": lambda: "x = 1",
    "x": lambda: np.ones((2, 3), np.float32),
    "a": lambda: np.ones((2, 3), np.float32),
    "wrt": lambda: 0,
    "axis": lambda: 0,
}


def _objects() -> dict[str, Any]:
    """Objects of the public classes, whose methods are called."""
    report = onnxsmith.optimize(_MODEL)
    return {
        "onnxsmith.Model": _MODEL,
        "script": _scripted,
        "jit": xp.jit(lambda x: x + 1),
        "jitted script": _scripted.jit,
        "runner": _MODEL.runner(),
        "session": _MODEL.session(),
        "gradient": onnxsmith.grad.grad(lambda x: (x * x).sum()),
        "optimized": report,
        "nodes": _MODEL.nodes,
        "node": _MODEL.nodes[0],
        "weights": _MODEL.weights,
        "summary": _MODEL.summary(),
        "diff": onnxsmith.diff(_MODEL, _MODEL),
        "equality": _MODEL.equals(_MODEL),
        "Tensor": onnxsmith.tensor([1.0, 2.0]),
        "xp.Array": xp.array([[1.0, 2.0], [3.0, 4.0]]),
        "Opset": onnxsmith.Opset("com.acme", 1),
        "DType": onnxsmith.DType.FLOAT,
        "Weights": onnxsmith.Weights({"w": (FLOAT[1], [1.0])}),
        "Rule": onnxsmith.Rule(lambda x: op.Neg(op.Neg(x)), lambda x: x),
        "optimizer": onnxsmith.grad.sgd(0.1),
    }


def _left(function: Callable[..., Any], x: Any) -> Callable[..., Any]:
    return lambda operand: function(x, operand)


def _right(function: Callable[..., Any], x: Any) -> Callable[..., Any]:
    return lambda operand: function(operand, x)


def _operators(x: Any) -> dict[str, Callable[..., Any]]:
    """Python's operators with a tensor or an array on either side."""
    names = (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"),
        *("lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge", "contains"),
    )
    found: dict[str, Callable[..., Any]] = {}
    for name in names:
        function = getattr(operator, name)
        found[name] = _left(function, x)
        if name != "contains":  # in a set or text Python itself looks
            found[f"{name} reflected"] = _right(function, x)
    return found


def public() -> dict[str, Callable[..., Any]]:
    """Every public function, constructor and method by name."""
    found: dict[str, Callable[..., Any]] = {}
    for group in (*MAIN, *NUMPY):
        for module, name in group.names:
            try:
                value = getattr(importlib.import_module(module), name)
            except MissingDependencyError:  # of a front end whose package is not installed here
                continue
            # Nobody makes an instance of a protocol; Python itself says so.
            if callable(value) and name not in _MADE_BY_US and not getattr(value, "_is_protocol", False):
                found[f"{module}.{name}"] = value
    for title, held in _objects().items():
        for name in dir(held):
            if name.startswith("_") and name not in ("__call__", "__getitem__"):
                continue
            if hasattr(int, name) and isinstance(held, int):
                continue  # Python's own methods of whole numbers
            with contextlib.suppress(OnnxsmithError):
                value = getattr(held, name)
                if callable(value):
                    found[f"{title}.{name}"] = value
        if title in ("Tensor", "xp.Array"):
            found |= {f"{title} {name}": each for name, each in _operators(held).items()}
    return {name: value for name, value in found.items() if name not in LEFT_OUT}


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(2)]


def drawn_call(function: Callable[..., Any], draw: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Arguments for a call, some of them of a wrong kind."""
    wrong = _wrong_values()
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    share = draw.choice((0.3, 1.0))  # right but for some arguments, or all wrong
    for each in _parameters(function):
        value = draw.choice(wrong)
        if each.name in _RIGHT and draw.random() >= share:
            value = _RIGHT[each.name]()
        if each.kind is each.VAR_POSITIONAL:
            args += [draw.choice(wrong) for _ in range(draw.randint(0, 2))]
        elif each.kind is each.VAR_KEYWORD:
            if draw.random() < 0.2:
                kwargs[draw.choice(("made_up", "dtype", "name"))] = value
        elif each.kind in (each.KEYWORD_ONLY,):
            if each.default is each.empty or draw.random() < 0.3:
                kwargs[each.name] = value
        elif each.default is each.empty or (draw.random() < 0.4 and not kwargs):
            args.append(value)
    if draw.random() < 0.05:
        kwargs["made_up"] = 1
    if args and draw.random() < 0.05:
        args.pop()
    return args, kwargs


class _Slow(BaseException):
    pass


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Stop a call that does not end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _Slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _nowhere() -> Iterator[None]:
    """A folder for what a call may write, and no terminal for what it prints."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _is_numpys(name: str, error: Exception, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """True if numpy itself raises an error of this class for the call: what follows numpy follows its errors."""
    own: Any = None
    if name.startswith("onnxsmith.numpy."):
        own = np
        for part in name.removeprefix("onnxsmith.numpy.").split("."):
            own = getattr(own, part, None)
    if name.startswith("xp.Array."):
        own = getattr(np.array([[1.0, 2.0], [3.0, 4.0]]), name.removeprefix("xp.Array."), None)
    if name.startswith("xp.Array "):
        own = _operators(np.array([[1.0, 2.0], [3.0, 4.0]]))[name.removeprefix("xp.Array ")]
    if own is None:
        return False
    try:
        own(*args, **kwargs)
    except Exception as theirs:
        return isinstance(error, type(theirs)) or isinstance(theirs, type(error))
    return False


def judged(name: str, function: Callable[..., Any], seed: object) -> Verdict:
    """One drawn call of a function."""
    draw = random.Random(f"{name} {seed}")
    args, kwargs = drawn_call(function, draw)
    shown = f"{name}(*{_shown(args)}, **{_shown(kwargs)}), seed {seed}"
    with warnings.catch_warnings(), _nowhere():
        warnings.simplefilter("ignore")
        try:
            with _limited():
                result = function(*args, **kwargs)
                if isinstance(result, contextlib.AbstractContextManager) and not hasattr(result, "read"):
                    with result:
                        pass
        except OnnxsmithError:
            return Verdict("equal")
        except _Slow:
            return Verdict("wrong", f"{shown} did not end in {_SECONDS} s")
        except Exception as error:
            if (
                _is_numpys(name, error, args, kwargs)
                or _is_users(error)
                or _is_past_the_end(name, error)
                or _is_of_masked_array(name, error)
                or _is_unbegun(error)
            ):
                return Verdict("equal")
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            return Verdict("wrong", f"{shown}: {type(error).__name__}: {str(error)[:150]} ({where})")
    return Verdict("equal")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}…"


def _is_users(error: Exception) -> bool:
    """True if a function of this file has raised it: it was called as the user's code is."""
    last = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        last = frame
    return (
        last is not None
        and last.f_code.co_filename == __file__
        and last.f_code.co_name in ("_plain", "<lambda>", "_scripted")
    )


def _is_past_the_end(name: str, error: Exception) -> bool:
    """True for the IndexError, in our words, by which Python ends a loop over a sequence."""
    return name == "nodes.__getitem__" and isinstance(error, IndexError)


def _is_of_masked_array(name: str, error: Exception) -> bool:
    """True for the error of a masked array, whose operators go first."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return (
        isinstance(error, ValueError)
        and "reflected" in name
        and Path(last).parent == Path(np.ma.__file__).parent
    )


def _is_unbegun(error: Exception) -> bool:
    """True if Python has refused the arguments before a line of ours ran."""
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, TypeError) and set(frames) <= {__file__, contextlib.__file__}


def _verdicts(seed: int) -> Iterator[Verdict]:
    functions = public()
    number = seed * 1_000
    while True:
        number += 1
        names = sorted(functions)
        random.Random(number).shuffle(names)
        for name in names:
            yield judged(name, functions[name], number)


LAW = Law("public functions on values of the wrong kind succeed, or raise an error of ours", 8000, _verdicts)
