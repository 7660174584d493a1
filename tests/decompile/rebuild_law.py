"""The law of rebuilding: decompiled text makes the same model again, node for node, and the same results.

Cases are drawn in turn: nested Loop, If and Scan nodes made as protos, programs with control flow, programs with state.
`decompile` compares the two itself; here it is told not to, so that the law sees what is written at first.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from hypothesis import HealthCheck, Phase, given, seed, settings

import onnxsmith
from onnxsmith.errors import FallbackWarning, OnnxsmithError
from tests.decompile.fidelity import differences
from tests.decompile.nested_graphs import arguments, hides_names, nested_model
from tests.decompile.round_trip import compile_text
from tests.laws.named import Law, Verdict
from tests.scripting.programs import Program, programs
from tests.scripting.state_programs import state_program

#: Programs that hypothesis draws at once.
_BATCH = 20
Case = tuple[str, Callable[[], "tuple[onnx.ModelProto, Mapping[str, Any] | None]"]]


def verdict(model: onnx.ModelProto, inputs: Mapping[str, Any] | None, title: str) -> Verdict:
    """Decompile a model, make it again, and compare nodes and results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = onnxsmith.decompile(model, verify=False)
        again = compile_text(text)
    if found := differences(model, again):
        return Verdict("wrong", f"{title}: {found[0]}")
    onnxsmith.decompile(model)  # raises an error where it sees a difference that there is none of
    results = None if inputs is None else _results(model, inputs)
    if results is not None and not _equal(results, _results(again, inputs or {}) or []):
        return Verdict("wrong", f"{title}: the results differ")
    return Verdict("equal")


def _results(model: onnx.ModelProto, inputs: Mapping[str, Any]) -> list[Any] | None:
    """The results of a run; none where it refuses the model: names of outer graphs that are made again.

    As users run it, on ONNX Runtime: a bare session ends the process on some of the drawn models.
    """
    names = [each.name for each in model.graph.input]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FallbackWarning)
            results = onnxsmith.Model.from_proto(model)(*(inputs[name] for name in names))
    except (OnnxsmithError, FallbackWarning):
        return None
    return list(results) if isinstance(results, tuple) else [results]


def _equal(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    return all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
        for a, b in zip(one, other, strict=True)
    )


def _nested(number: int) -> Case:
    """A model of nested nodes; one that makes a name of an outer graph again is not run, since no runtime has to."""
    if number % 3 == 0:
        title = f"nested_model({number}, is_bounded=False)"
        return title, lambda: (nested_model(number, is_bounded=False), None)
    given = None if hides_names(number) else arguments(number)
    return f"nested_model({number})", lambda: (nested_model(number), given)


def _state(number: int) -> Case:
    program = state_program(number)
    function = _loaded(program.source, f"<state {number}>")["program"]

    def make() -> tuple[onnx.ModelProto, Mapping[str, Any]]:
        proto = onnxsmith.script(function).to_model().proto
        return proto, dict(zip((each.name for each in proto.graph.input), program.inputs, strict=True))

    return f"state_program({number})", make


def _programs(number: int) -> list[Case]:
    found: list[Program] = []

    @seed(number)
    @settings(
        max_examples=_BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def collect(program: Program) -> None:
        found.append(program)

    collect()

    def case(program: Program) -> Case:
        def make() -> tuple[onnx.ModelProto, Mapping[str, Any]]:
            script = _loaded(program.source, f"<generated {number}>")["program"]
            proto = script.to_model(attributes=program.attributes).proto
            given_inputs = [each for each in program.inputs if each is not None]
            return proto, dict(zip((each.name for each in proto.graph.input), given_inputs, strict=False))

        return f"a program of seed {number}:\n{program.source}", make

    return [case(each) for each in found[:_BATCH]]


def _loaded(source: str, file: str) -> dict[str, Any]:
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType("generated_program")
    sys.modules[module.__name__] = module  # where a dataclass looks for its module
    exec(compile(source, file, "exec"), vars(module))
    return vars(module)


def _verdicts(first: int) -> Iterator[Verdict]:
    waiting: list[Case] = []
    for number in itertools.count(first * 1_000_003):
        if not waiting and number % 2:
            waiting = _programs(number)
        cases = [_nested(number), _state(number)] + ([waiting.pop()] if waiting else [])
        for title, make in cases:
            try:
                made = make()
            except OnnxsmithError:
                continue  # no model: a program may be refused
            except (
                ArithmeticError,
                AttributeError,
                LookupError,
                RuntimeError,
                StopIteration,
                TypeError,
                ValueError,
            ):
                continue  # Python's own error, which the laws of programs are about
            try:
                yield verdict(*made, title)
            except OnnxsmithError as error:
                yield Verdict("wrong", f"{title}: {error}")


LAW = Law("decompiled text makes the same model and the same results", 900, _verdicts)
