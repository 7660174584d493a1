"""Runs in a process of their own: the same results and errors, and every way that a process can go wrong, told."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    MemoryLimitError,
    NotRunnableError,
    OnnxsmithError,
    ProcessEndedError,
    RunTimeoutError,
    TensorIndexError,
)
from onnxsmith.graphs.isolation import Isolation
from onnxsmith.runtime import child_process, isolated, using

X = np.float32([1, 2])
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are looked at and limited on Linux only"
)


def runs_of(model: Any, limits: Isolation) -> Any:
    """Runs of a model in one child process."""
    names = [each.name for each in model.inputs]
    return model.explanations.isolated_runs(model.handed_over(), names, limits)


def children() -> set[int]:
    """The processes that this one started and has not waited for."""
    folder = "/proc/self/task"
    found: set[int] = set()
    for task in os.listdir(folder):
        try:
            with open(f"{folder}/{task}/children", encoding="ascii") as file:
                found |= {int(each) for each in file.read().split()}
        except OSError:
            pass
    return found


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No process outlives its run but the one that waits for the next."""
    child_process.end_waiting()
    before = children() if sys.platform == "linux" else set()
    yield
    child_process.end_waiting()
    if sys.platform == "linux":
        assert children() <= before


@script
def total(n: INT64):
    result = 0
    for i in range(n):
        result = result + i
    return result


def child_is(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Another program in the place of the one that runs models."""
    monkeypatch.setattr(child_process, "_command", lambda: [sys.executable, "-I", "-c", code])


#: Says what the child says before it loads a model.
GREETING = """
import sys, struct, json
def say(header, *buffers):
    text = json.dumps(header).encode()
    sys.stdout.buffer.write(b"smith\\x01" + struct.pack("<QI", len(text), len(buffers)))
    sys.stdout.buffer.write(struct.pack(f"<{len(buffers)}Q", *map(len, buffers)) + text + b"".join(buffers))
    sys.stdout.buffer.flush()
say({"ready": True})
say({"started": True})
"""


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize("stored", ["memory", "inside", "beside"])
def test_results_are_those_of_a_call(stored, runtime, tmp_path) -> None:
    weight = np.arange(4096, dtype=np.float32).reshape(2, 2048)
    model = trace(lambda x: (x @ weight, op.Shape(x)), FLOAT[2])
    if stored != "memory":
        model.save(tmp_path / "m.onnx", external_data=stored == "beside")
        model = onnxsmith.load(tmp_path / "m.onnx")
    with using(runtime=runtime):
        here, there = model(X), model.run(X, isolated=True)
    assert isinstance(there, tuple)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(here, there, strict=True))
    there[0][0] = 1  # writable, as other results are


def test_the_settings_hold_there(monkeypatch) -> None:
    seen = {}
    told = isolated._told

    def watched(*args):
        seen.update(told(*args)[0]["settings"])
        return told(*args)

    monkeypatch.setattr(isolated, "_told", watched)
    with using(runtime="reference", intra_op_threads=3):
        trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True)
    assert seen == {
        "runtime": "reference",
        "threads": 3,
        "providers": [],
        "options": [],
        "tf32": False,
        "plug_ins": [],
        "operators": [],
    }


def test_text_sequences_and_maps() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (string[N] s, seq(float[N]) q) => (string[N] t, seq(float[N]) r) { t = Identity(s)  r = Identity(q) }"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    strings, sequence = model.run(np.array(["a", "é"], object), [X, X], isolated=True)
    assert strings.tolist() == ["a", "é"]
    assert [each.tolist() for each in sequence] == [[1, 2], [1, 2]]


def said(run) -> tuple[type, str]:
    with pytest.raises(OnnxsmithError) as caught:
        run()
    return type(caught.value), caught.value.message


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_failures_are_those_of_a_call(runtime) -> None:
    model = trace(lambda x, i: op.Gather(x, i), FLOAT["N"], INT64["M"])
    with using(runtime=runtime):
        here = said(lambda: model(X, np.int64([9])))
        there = said(lambda: model.run(X, np.int64([9]), isolated=True))
    assert here == there
    assert there[0] is TensorIndexError


def test_failures_without_an_origin_name_the_node() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x, int64[M] i) => (float[M] y) { [pick] y = Gather(x, i) }"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    here = said(lambda: model(X, np.int64([9])))
    assert here == said(lambda: model.run(X, np.int64([9]), isolated=True))
    assert "node 'pick' (Gather)" in here[1]


def test_refusals_are_those_of_a_call() -> None:
    frob = onnxsmith.Opset("no.such", 1).Frob
    model = trace(lambda x: frob(x), FLOAT["N"])
    here, there = said(lambda: model(X)), said(lambda: model.run(X, isolated=True))
    assert here == there
    assert there[0] is NotRunnableError


def test_too_long() -> None:
    with pytest.raises(RunTimeoutError, match=r"longer than 0\.5 seconds"):
        total.to_model().run(np.int64(1 << 40), isolated=True, timeout=0.5)


def test_an_answer_in_time() -> None:
    assert total.to_model().run(np.int64(10), isolated=True, timeout=60) == 45


@linux
def test_too_much_memory() -> None:
    model = trace(lambda x: op.Expand(x, [100_000_000]), FLOAT[1])
    with pytest.raises(MemoryLimitError, match="more memory than the 50 MB"):
        model.run(X[:1], isolated=True, memory="50 MB")


@linux
def test_enough_memory() -> None:
    model = trace(lambda x: op.ReduceSum(op.Expand(x, [1_000_000])), FLOAT[1])
    assert model.run(X[:1], isolated=True, memory="200 MB") == 1_000_000


def test_memory_is_refused_where_it_cannot_be_limited(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(onnxsmith.errors.AttributeValueError, match="only be limited on Linux"):
        trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True, memory="50 MB")


@pytest.mark.skipif(os.name == "nt", reason="signals are not how processes end there")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SIGSEGV", "memory that is not its own"),
        ("SIGFPE", "arithmetic fault"),
        ("SIGABRT", "gave up"),
        ("SIGKILL", "memory runs out"),
        ("SIGUSR1", "SIGUSR1"),
    ],
)
@pytest.mark.parametrize("when", ["at once", "greeted", "told"])
def test_ended_by_a_signal(name, words, when, monkeypatch) -> None:
    start = {"at once": "", "greeted": GREETING, "told": GREETING + "sys.stdin.buffer.read(1);"}[when]
    child_is(monkeypatch, f"{start}\nimport os, signal\nos.kill(os.getpid(), signal.{name})")
    with pytest.raises(ProcessEndedError, match=words) as caught:
        trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True)
    assert f"ended by {name}" in caught.value.message


@pytest.mark.parametrize(
    ("code", "said_to"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("print('hello')", "cannot be read"),
        (GREETING + "sys.stdout.buffer.write(b'smith')", "cannot be read"),
        (
            GREETING + "say({'answers': [{'outputs': {'dtype': 1, 'shape': [9], 'buffer': 0}}]}, b'abcd')",
            "cannot be read",
        ),
        (GREETING + "say({'answers': [{'outputs': {'object': 1}}]})", "cannot be read"),
        (
            GREETING + "say({'answers': [{'raised': 'SystemExit', 'message': '', 'help': None}]})",
            "cannot be read",
        ),
        (GREETING + "say({'answers': [{'raised': 'OnnxsmithError'}]})", "cannot be read"),
        (GREETING + "say({'answers': [{'hello': 1}]})", "cannot be read"),
        (GREETING + "say({'answers': []})", "cannot be read"),
        (GREETING + "say({'hello': 1})", "cannot be read"),
        (GREETING + "say({'answers': [{'outputs': {'plain': 1}}]})", "cannot be read"),
        (GREETING + "say({'answers': [{'outputs': {'list': []}}]})", "cannot be read"),
    ],
)
def test_answers_that_are_none(code, said_to, monkeypatch) -> None:
    child_is(monkeypatch, code)
    with pytest.raises(ProcessEndedError, match=said_to):
        trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True)


def test_what_it_printed_last_is_told(monkeypatch) -> None:
    child_is(monkeypatch, "import sys; print('first\\nthe reason', file=sys.stderr); sys.exit(1)")
    with pytest.raises(ProcessEndedError) as caught:
        trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True)
    assert caught.value.help == "it printed last: the reason"


def test_a_child_that_reads_nothing_does_not_block(monkeypatch) -> None:
    child_is(monkeypatch, GREETING + "import time; time.sleep(60)")
    model = trace(lambda x: x + x, FLOAT["N"])
    with pytest.raises(RunTimeoutError):
        model.run(np.ones(10_000_000, np.float32), isolated=True, timeout=0.2)


def test_what_the_model_prints_is_no_answer(monkeypatch, capfd) -> None:
    real = child_process._command()
    noisy = real[-1].replace("; from ", "; import os; os.write(2, b'x' * 1_000_000); from ")
    monkeypatch.setattr(child_process, "_command", lambda: [*real[:-1], noisy])
    assert trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True).tolist() == [2, 4]
    assert capfd.readouterr() == ("", "")


def test_the_current_folder_is_not_imported_from(tmp_path, monkeypatch) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('a stranger')")
    (tmp_path / "onnx.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert trace(lambda x: x + x, FLOAT["N"]).run(X, isolated=True).tolist() == [2, 4]


def test_the_child_loads_no_graphs_of_ours() -> None:
    code = "import sys, onnxsmith.runtime.isolated_child; print('onnx_ir' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_from_threads() -> None:
    model = trace(lambda x: x + x, FLOAT["N"])
    results = []
    threads = [
        threading.Thread(target=lambda k=k: results.append((k, model.run(X * k, isolated=True))))
        for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {k: each.tolist() for k, each in results} == {k: [2 * k, 4 * k] for k in range(3)}


#: A program that says when its model runs, and in which process. A program that a shell started in the background
#: ignores interrupts, and so do those that it starts: this one takes them as a program in the foreground does.
RUNNING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from onnxsmith.runtime import frames
from tests.runtime.test_isolated import total, children
model = total.to_model()
read, messages = frames.read, ["ready", "started", "outputs"]
def watched(file):
    if messages.pop(0) == "outputs":
        print(*children(), flush=True)
    return read(file)
frames.read = watched
try:
    model.run(np.int64(1 << 40), isolated=True)
except KeyboardInterrupt:
    print("interrupted", sorted(children()), flush=True)
"""


@pytest.fixture
def running() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Such a program, and the process in which the model runs."""
    process = subprocess.Popen([sys.executable, "-c", RUNNING], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@linux
def test_an_interrupt_ends_the_child(running) -> None:
    process, _ = running
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert told == "interrupted []\n"


@linux
def test_a_program_that_is_killed_leaves_no_child_behind(running) -> None:
    process, child = running
    ended = os.pidfd_open(child)
    try:
        process.kill()
        assert select.select([ended], [], [], 60)[0], "it goes on"
    finally:
        signal.pidfd_send_signal(ended, signal.SIGKILL)
        os.close(ended)


@pytest.mark.parametrize("number", [0, 1], ids=["what it prints", "what it is told"])
@pytest.mark.parametrize("has_begun", [False, True])
def test_an_interrupt_while_a_thread_is_started_ends_the_child(number, has_begun, monkeypatch) -> None:
    start, started = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        started.append(thread)
        if len(started) <= number or has_begun:
            start(thread)
        if len(started) == number + 1:
            raise KeyboardInterrupt

    model = total.to_model()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.run(np.int64(1 << 40), isolated=True)
    assert len(started) == number + 1  # and the fixture looks for what is left


def run(model: Model, *inputs, timeout: float | None = 60, **options):
    return model.run(*inputs, isolated=True, timeout=timeout, **options)


@linux
def test_the_process_is_kept_for_the_next_run() -> None:
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    before = children()
    np.testing.assert_array_equal(run(model, X), X + 1)
    (first,) = children() - before
    np.testing.assert_array_equal(run(model, {"x": X}, memory="200 MB"), X + 1)
    with pytest.raises(OnnxsmithError):
        run(trace(lambda x, y: x + y, FLOAT["N"], FLOAT["M"]), X, np.float32([1, 2, 3]))
    assert children() - before == {first}  # an error is an answer, too
    os.kill(first, signal.SIGKILL)
    np.testing.assert_array_equal(run(model, X), X + 1)
    (second,) = children() - before
    assert second != first
    with pytest.raises(RunTimeoutError):
        run(total.to_model(), np.int64(2**40), timeout=0.5)
    assert children() == before


@linux
def test_another_environment_has_another_process(monkeypatch) -> None:
    model = trace(lambda x: x + 1.0, FLOAT["N"])
    before = children()
    run(model, X)
    first = children() - before
    monkeypatch.setenv("LC_ALL", "C")
    run(model, X)
    second = children() - before
    assert len(second) == 1
    assert first.isdisjoint(second)


@linux
def test_limits_of_memory_end_with_the_run() -> None:
    model = trace(lambda x: op.Expand(x, [64, 1 << 18]), FLOAT[1])  # 64 MB
    one = np.float32([1])
    with pytest.raises(MemoryLimitError):
        run(model, one, memory="20 MB")
    assert not child_process._waiting  # it may be short of memory for ever
    assert run(model, one, memory="500 MB").shape == (64, 1 << 18)
    assert child_process._waiting
    assert run(model, one).shape == (64, 1 << 18)
    with pytest.raises(MemoryLimitError):
        run(model, one, memory="20 MB")


@linux
def test_several_runs_have_one_session() -> None:
    model = trace(lambda x, y: x + y, FLOAT["N"], FLOAT["M"])
    three, before = np.float32([1, 2, 3]), children()
    with runs_of(model, Isolation(timeout=60)) as run_each:
        first, second, third = run_each([[X, X], [X, three], [X, np.float32([1])]])
        assert [each.tolist() for each in (first[0], third[0])] == [[2, 4], [2, 3]]
        with pytest.raises(OnnxsmithError) as caught:
            model(X, three)
        assert isinstance(second, type(caught.value))
        assert second.message == caught.value.message
        (child,) = children() - before
        os.kill(child, signal.SIGKILL)
        (ended,) = run_each([[X, X]])
        assert isinstance(ended, ProcessEndedError)
        assert run_each([[X, X]])[0][0].tolist() == [2, 4]  # in another process


def test_one_run_that_has_no_end_costs_the_others_nothing() -> None:
    with runs_of(total.to_model(), Isolation(timeout=2)) as run_each:
        ten, late, five = run_each([[np.array(each)] for each in (10, 2**40, 5)])
    assert (ten[0], five[0]) == (45, 10)
    assert isinstance(late, RunTimeoutError)
