"""The laws of the language: a generated program gives the same whoever runs it, and the same bytes at every run."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from onnxsmith import errors
from tests.scripting.four_ways import (
    assert_same,
    compile_and_check,
    flat,
    run_eagerly,
    run_plain,
    run_reference,
    run_runtime,
)
from tests.scripting.programs import Program, programs

#: A generated program may use a variable that has no value on some path, or change a variable's kind; these say so.
REFUSALS = (
    errors.UnassignedVariableError,
    errors.LoopTypeError,
    errors.BranchTypeError,
    errors.DynamicPythonValueError,
    errors.MissingReturnError,
    errors.NestingError,
)


def load(program: Program) -> Any:
    """The script of a generated module."""
    file = f"<generated {zlib.crc32(program.source.encode())}>"  # the same program fails at the same place
    linecache.cache[file] = (len(program.source), None, program.source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(program.source, file, "exec"), namespace)
    return namespace["program"]


@given(programs())
@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
def test_a_program_gives_the_same_whoever_runs_it(program: Program) -> None:
    try:
        script = load(program)
        proto = compile_and_check(script, program.attributes)
    except REFUSALS:
        return
    expected = flat(run_plain(script, program.inputs, program.attributes))
    assert_same(expected, flat(run_eagerly(script, program.inputs, program.attributes)), "eager")
    assert_same(expected, run_runtime(proto, program.inputs), "ONNX Runtime")
    try:
        reference = run_reference(proto, program.inputs)
    except Exception:  # the reference evaluator stumbles on valid models; where it answers, it must agree
        return
    assert_same(expected, reference, "the reference evaluator")


_CARRIES_MANY = """
from onnxsmith import FLOAT, INT64, script, opset18 as op

@script
def program(x: FLOAT["N"], n: INT64):
    a, b, c, d, e, f, g, h = x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7
    for i in range(n):
        a, b, c, d = b, c, d, a
        if a.sum() > 0:
            e, f, g, h = f, g, h, e
            z = a * 2
        else:
            z = b
        while h.sum() > 100:
            h = h - z
            x = x * 0.5
    return a, b, c, d, e, f, g, h, x
"""


def test_the_same_source_gives_the_same_bytes_under_every_hash_seed(tmp_path: Path) -> None:
    module = tmp_path / "many.py"
    module.write_text(_CARRIES_MANY)
    write = "sys.stdout.buffer.write(program.to_model_proto().SerializeToString())"
    command = f"import sys; from many import program; {write}"
    results = set[bytes]()
    for seed in ("0", "1", "42"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", command], cwd=tmp_path, env=environment, capture_output=True, check=True
        )
        results.add(run.stdout)
    assert len(results) == 1
    assert len(results.pop()) > 1000


@pytest.mark.parametrize("source", ["x + 1", "op.Relu(x)", "x[1:] * 2"])
def test_staging_twice_gives_the_same_bytes(source: str) -> None:
    head = "from onnxsmith import FLOAT, script, opset18 as op\n\n@script\ndef program(x: FLOAT['N']):\n"
    text = f"{head}    return {source}\n"
    script = load(Program(text, (), {}))
    assert script.to_model_proto() == script.to_model_proto()
