"""`using`: what holds inside a block, and what is refused."""

from __future__ import annotations

import contextvars
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    MissingProviderError,
    RuntimeOptionError,
)
from onnxsmith.runtime import onnxruntime_api, using
from onnxsmith.runtime.onnxruntime_api import compiled
from onnxsmith.runtime.providers import PROVIDERS, session_providers
from onnxsmith.runtime.settings import Settings, current, usable_cores
from tests.runtime.calls import call, floats


def test_blocks_nest_and_end() -> None:
    outside = current()
    with using(intra_op_threads=1):
        with using(runtime="reference") as inner:
            assert inner == Settings("reference", (), 1)
        assert current().runtime == "onnxruntime"
    assert current() == outside


def test_a_block_may_be_entered_again() -> None:
    scope = using(cache_size=4)
    for _ in range(2):
        with scope as settings:
            assert settings.cache_size == 4


def test_other_threads_are_not_concerned() -> None:
    seen: list[str] = []
    with using(runtime="reference"):
        thread = threading.Thread(target=lambda: seen.append(current().runtime))
        thread.start()
        thread.join()
        contextvars.copy_context().run(lambda: seen.append(current().runtime))
    assert seen == ["onnxruntime", "reference"]


def test_providers() -> None:
    with using(providers=["CPUExecutionProvider"]):
        assert call("Neg", floats(1)).tolist() == [-1]
    with using(
        providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]
    ) as settings:
        assert settings.providers == (
            ("CPUExecutionProvider", (("arena_extend_strategy", "kSameAsRequested"),)),
        )
        assert call("Neg", floats(1)).tolist() == [-1]


@pytest.mark.parametrize(
    ("choice", "error", "words"),
    [
        ({"providers": ["CUDAExecutionProvidr"]}, AttributeValueError, "available here: "),
        (
            {"providers": ["CPUexecutionprovider"]},
            AttributeValueError,
            "did you mean 'CPUExecutionProvider'?",
        ),
        ({"providers": "cuda"}, MissingProviderError, "pip install onnxruntime-gpu; available here: "),
        ({"providers": ["CUDAExecutionProvider"]}, MissingProviderError, "onnxruntime-gpu"),
        ({"device": "cuda:1"}, MissingProviderError, "has no CUDAExecutionProvider"),
        ({"providers": "opnvino"}, AttributeValueError, "did you mean 'openvino'?"),
        ({"providers": 3}, AttributeTypeError, "not an int"),
        ({"providers": [("cpu", 3)]}, AttributeTypeError, "not a tuple"),
        ({"providers": ("cpu", {"use_arenas": 1})}, RuntimeOptionError, "did you mean 'use_arena'?"),
        ({"providers": ("azure", {"key": 1})}, RuntimeOptionError, "its options: none"),
        ({"providers": ("cpu", {3: 1})}, AttributeTypeError, "have names"),
        ({"device": "gpu"}, AttributeValueError, "devices are 'cpu', 'cuda'"),
        ({"device": "openvino"}, AttributeValueError, "providers='openvino'"),
        ({"device": "cpu:1"}, AttributeValueError, "there is one CPU"),
        ({"device": "cuda:x"}, AttributeValueError, "stands a number"),
        ({"device": 1}, AttributeTypeError, "not an int"),
        ({"device": "cpu", "providers": "cpu"}, AttributeValueError, "choose the same thing"),
        ({"graph_capture": True}, RuntimeOptionError, "is for the providers 'cuda'"),
        (
            {"session_options": {"graph_optimisation_level": "all"}},
            RuntimeOptionError,
            "did you mean 'graph_opt",
        ),
        ({"session_options": {"session.use_env_allocator": 1}}, RuntimeOptionError, "use_env_allocators'"),
        ({"session_options": {"execution_mode": "fast"}}, RuntimeOptionError, "'sequential', 'parallel'"),
        ({"session_options": {"intra_op_num_threads": 1}}, RuntimeOptionError, "intra_op_threads"),
        ({"session_options": {"enable_mem_reuse": "no"}}, AttributeTypeError, "an int or a bool"),
        ({"session_options": {"logid": None}}, AttributeTypeError, "text or a number"),
        ({"session_options": {"zzz": 1}}, RuntimeOptionError, "and entries such as"),
        ({"session_options": ["logid"]}, AttributeTypeError, "a mapping"),
        ({"runtime": "tvm"}, AttributeValueError, "'onnxruntime' and 'reference'"),
        ({"intra_op_threads": 0}, AttributeValueError, "positive"),
        ({"intra_op_threads": 999_999}, AttributeValueError, "1024 at the most"),
        ({"intra_op_threads": True}, AttributeTypeError, "positive"),
        ({"cache_size": -1}, AttributeValueError, "positive"),
    ],
)
def test_mistakes(choice, error, words) -> None:
    with pytest.raises(error) as caught:
        using(**choice)
    assert words in str(caught.value)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_what_people_call_devices_elsewhere() -> None:
    for name, words in (("gpu", "a GPU is 'cuda'"), ("mps", "providers='coreml'")):
        for choice in ({"providers": name}, {"device": name}):
            with pytest.raises(AttributeValueError, match=words):
                using(**choice)


def test_session_options_reach_sessions(tmp_path: Path) -> None:
    written = tmp_path / "written.onnx"
    options = {
        "execution_mode": "parallel",
        "session.set_denormal_as_zero": True,
        "enable_mem_reuse": False,
        "optimized_model_filepath": str(written),
    }
    with using(session_options=options) as settings:
        hash(settings)
        assert call("Neg", floats(1)).tolist() == [-1]
    assert written.exists()
    made: Any = onnxruntime_api._new_session_options(
        onnxruntime_api.SessionChoices(1, optimize=True, options=settings.session_options)
    )
    assert str(made.execution_mode) == "ExecutionMode.ORT_PARALLEL"
    assert made.enable_mem_reuse is False
    assert made.get_session_config_entry("session.set_denormal_as_zero") == "1"


CUDA = "CUDAExecutionProvider"


@pytest.fixture
def with_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that says that it has CUDA, which does not start."""
    monkeypatch.setattr(onnxruntime_api, "available_providers", lambda: (CUDA, "CPUExecutionProvider"))


@pytest.mark.usefixtures("with_cuda")
def test_devices_and_what_follows_from_choices() -> None:
    with using(device="cuda:1") as settings:
        assert settings.providers == ((CUDA, (("device_id", "1"),)),)
        assert settings.device == "cuda:1"
        with using(device="cpu") as inner:
            assert inner.device == "cpu"
    assert using(providers="cuda").settings.device == "cuda:0"
    given = using(providers=("cuda", {"prefer_nhwc": "1", "enable_cuda_graph": False})).settings.providers
    off = session_providers(given, allow_tf32=False, captures=False)
    assert dict(off[0][1]) == {"use_tf32": "0", "prefer_nhwc": "1", "enable_cuda_graph": "0"}
    plain = using(providers="cuda", allow_tf32=True, graph_capture=True).settings
    on = session_providers(plain.providers, allow_tf32=plain.allow_tf32, captures=plain.graph_capture)
    assert dict(on[0][1]) == {"use_tf32": "1", "prefer_nhwc": "1", "enable_cuda_graph": "1"}


@pytest.mark.usefixtures("with_cuda")
def test_an_option_that_is_younger_than_the_table_is_looked_for_in_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RuntimeOptionError, match="did you mean 'use_tf32'"):
        using(providers=("cuda", {"use_tf33": 1}))
    assert onnxruntime_api.has_name("CPUExecutionProvider")
    monkeypatch.setattr(onnxruntime_api, "has_name", lambda name: name == "use_tf33")
    assert using(providers=("cuda", {"use_tf33": 1})).settings.providers == ((CUDA, (("use_tf33", "1"),)),)


def test_every_short_name_is_one_providers() -> None:
    shorts = [short for each in PROVIDERS for short in each.short]
    assert len(set(shorts)) == len(shorts)
    wanted = """
    cpu cuda tensorrt openvino coreml dml directml rocm migraphx qnn xnnpack webgpu cann acl armnn vitisai snpe azure
    """
    assert set(wanted.split()) <= set(shorts)
    assert all(each.install and each.short == tuple(map(str.lower, each.short)) for each in PROVIDERS)
    own = set(compiled().get_all_providers()) if hasattr(compiled(), "get_all_providers") else set[str]()
    assert own - {each.name for each in PROVIDERS} <= {
        "JsExecutionProvider",
        "WebNNExecutionProvider",
    }  # browsers'


def test_cores() -> None:
    assert usable_cores() >= 1


WITHOUT = """
import sys
sys.modules["onnxruntime"] = None
import numpy as np
import onnxsmith
from onnxsmith import opset21 as op
from onnxsmith.runtime import engine, load_session, using
from onnxsmith.errors import MissingDependencyError
x = np.array([[1, 2], [3, 4]], np.float32)
assert op.Add(x, x).tolist() == [[2, 4], [6, 8]]
assert op.Softmax(op.MatMul(x, x.T), axis=-1).shape == (2, 2)
assert op.Cast(x, to=16).dtype.name == "bfloat16"
try:
    op.Add(x, np.zeros(3, np.float32))
except onnxsmith.errors.ShapeError:
    pass
else:
    raise AssertionError
for choice in ({"runtime": "onnxruntime"}, {"providers": ["CPUExecutionProvider"]}):
    try:
        using(**choice)
    except MissingDependencyError:
        pass
    else:
        raise AssertionError
import onnx
text = '<ir_version: 8, opset_import: ["" : 14]> g (float[N] x) => (float[N] y) {y = Add(x, x)}'
assert load_session(onnx.parser.parse_model(text))([x])[0].tolist() == [[2, 4], [6, 8]]
"""


def test_without_onnx_runtime() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
