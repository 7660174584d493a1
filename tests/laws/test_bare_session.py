"""A bare session tells results, errors, deaths and hangs apart, and loads nothing of ours."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from onnx import parser

from tests.laws import bare_session

DIVIDE = (
    """<ir_version: 8, opset_import: ["": 14]> g (int32[N] a, int32[N] b) => (int32[N] c) { c = Div(a, b) }"""
)
ENDLESS = """<ir_version: 8, opset_import: ["": 16]> g (int64 n, bool go) => (int64 last) {
    last = Loop <body = b (int64 i, bool c, int64 s) => (bool d, int64 t) { d = Identity(c) t = Add(s, i) }> (n, go, n)
}"""


def run(text: str, **inputs: object) -> bare_session.BareOutcome:
    values = {name: np.asarray(each) for name, each in inputs.items()}
    return bare_session.run(parser.parse_model(text).SerializeToString(), values, timeout=5.0)


def test_results() -> None:
    outcome = run(DIVIDE, a=np.array([6], np.int32), b=np.array([3], np.int32))
    assert outcome.kind == "results"
    assert outcome.results["c"].tolist() == [2]


def test_an_error() -> None:
    outcome = run(DIVIDE, a=np.array([6], np.int32), b=np.array([3], np.int64))
    assert outcome.kind == "error"
    assert "int64" in outcome.text


def test_a_death() -> None:
    # The processor's own trap, which ONNX Runtime does not expect.
    outcome = run(DIVIDE, a=np.array([-(2**31)], np.int32), b=np.array([-1], np.int32))
    assert (outcome.kind, outcome.text) == ("died", "SIGFPE")


def test_a_hang() -> None:
    assert run(ENDLESS, n=np.int64(2**62), go=True).kind == "timed out"


def test_one_process_for_several() -> None:
    model = parser.parse_model(DIVIDE).SerializeToString()
    process = bare_session.BareProcess()
    good = {"a": np.array([6], np.int32), "b": np.array([3], np.int32)}
    kinds = [process.ask(model, good).kind]
    kinds.append(
        process.ask(model, {"a": np.array([-(2**31)], np.int32), "b": np.array([-1], np.int32)}).kind
    )
    kinds.append(process.ask(model, good).kind)
    process.close()
    assert kinds == ["results", "died", "results"]


def test_nothing_of_ours_is_loaded() -> None:
    code = (
        f"import runpy, sys; runpy.run_path({bare_session.__file__!r}, run_name='__main__')\n"
        "ours = {each.split('.')[0] for each in sys.modules} & {'onnx', 'onnx_ir', 'onnxsmith'}\n"
        "print(sorted(ours), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, timeout=120)
    assert done.stderr.decode().strip().endswith("[]")
