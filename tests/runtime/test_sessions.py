"""Sessions that are held: what calls give, state in two sets of buffers, and what is refused.

They run on the device that ONNXSMITH_TEST_DEVICE names, and on the CPU without it.
"""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import BOOL, FLOAT, INT64, STRING, load, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    CallError,
    InputTypeError,
    ModelInputError,
    NotRunnableError,
    OperatorFailedError,
    SessionInUseError,
    SessionStateError,
)
from onnxsmith.grad import adam, initial_state, losses, training_step
from onnxsmith.runtime import onnxruntime_api, using
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.types.value_types import SequenceType
from tests.chosen_device import DEVICE, on_device


@pytest.fixture(autouse=True)
def on_the_chosen_device() -> Iterator[None]:
    """Models without a device of their own open their sessions there."""
    with using(device=str(DEVICE)):
        yield


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def total() -> object:
    """A sum so far: every run adds to it."""
    return trace(lambda x, sum: (sum + x, sum.max()), FLOAT[2], FLOAT[2], output_names=["sum_next", "before"])


def cache() -> object:
    """A cache that grows by what is given, as one of keys and values."""
    return trace(
        lambda x, past: (op.Concat(past, x, axis=0), op.Size(past)),
        FLOAT["N", 2],
        FLOAT["M", 2],
        output_names=["present", "seen"],
    )


@pytest.mark.parametrize("reuse", [False, True])
def test_state_stays_between_calls(reuse: bool) -> None:
    session = total().session(state={"sum": f32(0, 0)}, reuse=reuse)
    assert [float(session(f32(1, k))) for k in range(5)] == [0, 1, 2, 3, 6]
    assert session.state["sum"].tolist() == [5, 10]


def test_state_of_growing_size() -> None:
    session = cache().session(state={"past": np.zeros((0, 2), np.float32)})
    seen = [float(session(np.ones((size, 2), np.float32))) for size in (1, 0, 3, 2)]
    assert seen == [0, 2, 2, 8]
    assert session.state["past"].shape == (6, 2)


def test_state_is_read_and_set_by_copies() -> None:
    first = f32(1, 2)
    session = total().session(state={"sum": first})
    first[:] = 9
    read = session.state["sum"]
    session(f32(1, 1))
    session(f32(1, 1))
    assert read.tolist() == [1, 2]
    read[:] = 7
    assert session.state["sum"].tolist() == [3, 4]
    given = f32(5, 5)
    session.state = {"sum": given}
    given[:] = 0
    session(f32(1, 1))
    assert session.state["sum"].tolist() == [6, 6]


def test_a_failed_run_leaves_the_state() -> None:
    model = trace(
        lambda x, sizes, sum: sum + op.Reshape(x, sizes),
        FLOAT["N"],
        INT64[1],
        FLOAT[2],
        output_names=["sum_next"],
    )
    session = model.session(state={"sum": f32(1, 2)})
    session(f32(1, 2), np.array([2]))
    with pytest.raises(OperatorFailedError, match="x: float32 of shape"):
        session(f32(1, 2), np.array([3]))
    assert session.state["sum"].tolist() == [2, 4]
    session(f32(3, 3), np.array([-1]))
    assert session.state["sum"].tolist() == [5, 7]


def test_a_training_step_is_the_same_as_called() -> None:
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(3, 2)).astype(np.float32), np.zeros(2, np.float32)
    model = trace(lambda x: x @ weight + bias, FLOAT["N", 3])
    step = training_step(model, losses.squared, adam(lr=0.1))
    state = initial_state(model, step)
    session = step.session(state=state)
    for size in (4, 4, 7, 1):
        x, target = (
            rng.normal(size=(size, 3)).astype(np.float32),
            rng.normal(size=(size, 2)).astype(np.float32),
        )
        loss, *new = step(x=x, target=target, **state)
        state = dict(zip(state, new, strict=True))
        assert session(x, target).tobytes() == loss.tobytes()
    found = session.state
    assert list(found) == list(state)
    assert all(found[name].tobytes() == state[name].tobytes() for name in state)


@pytest.mark.parametrize("elements", [3, 5000])
def test_results_outlive_later_calls_and_the_session(elements: int) -> None:
    """Small results of fixed size come out of a buffer, larger ones are values of their own."""
    model = trace(lambda x: x * 2.0, FLOAT[elements])
    session = model.session()
    results = [session(np.full(elements, k, np.float32)) for k in range(10)]
    del session, model
    gc.collect()
    assert [float(each[-1]) for each in results] == [2.0 * k for k in range(10)]


def test_inputs_in_every_form() -> None:
    torch = pytest.importorskip("torch")
    model = trace(lambda a, b: a - b, FLOAT["N"], FLOAT["N"])
    session = model.session()
    a, b = f32(3, 5), f32(1, 1)
    for found in (
        session(a, b),
        session(a, b=b),
        session(b=b, a=a),
        session(a[::-1][::-1], [1, 1]),
        session(a, b),
    ):
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [2, 4]
    found = session(torch.from_numpy(a), b)
    assert isinstance(found, EagerTensor)
    assert torch.from_dlpack(found).tolist() == [2, 4]
    assert session(np.arange(6, dtype=np.float32)[::3], b).tolist() == [-1, 2]
    assert session(a.astype(">f4"), b).tolist() == [2, 4]


def test_an_input_that_nothing_reads() -> None:
    model = trace(lambda a, b: a + 1.0, FLOAT["N"], FLOAT["N"])
    assert model.session()(f32(1), f32(7)).tolist() == [2]
    state = trace(lambda x, h: op.Identity(x), FLOAT[1], FLOAT[1], output_names=["h_next"])
    session = state.session(state={"h": f32(0)})
    assert session(f32(4)) is None
    assert session.state["h"].tolist() == [4]


def test_several_results_and_other_element_types() -> None:
    model = trace(lambda x, keep: (op.Where(keep, x, 0.0), op.Not(keep)), FLOAT["N"], BOOL["N"])
    values, left = model.session()(f32(1, 2), np.array([True, False]))
    assert (values.tolist(), left.tolist()) == ([1, 0], [False, True])


def test_pairs_by_name_and_by_word() -> None:
    def model(state: str, output: str) -> object:
        return trace(lambda x, h: h + x, FLOAT[1], FLOAT[1], input_names=["x", state], output_names=[output])

    for state, output in (
        ("h", "h_next"),
        ("past_key_values.0", "present.0"),
        ("past_h", "present_h"),
        ("h_in", "h_out"),
    ):
        session = model(state, output).session(state={state: [0.0]})
        session(f32(2))
        assert session.state == {state: f32(2)}
    session = model("h", "y").session(state={"h": [1.0]}, pairs={"h": "y"})
    session(f32(2))
    assert session.state == {"h": f32(3)}


#: Texts of models -> what a call gives for a = [1, -2], and the state h = [3, 4] then, which follows `pairs`.
UNUSUAL = {
    "an output that is an input": ("(float[N] a) => (float[N] a) {}", None, [[1, -2]], None),
    "of fixed size": ("(float[2] a) => (float[2] a) {}", None, [[1, -2]], None),
    "beside others": (
        "(float[2] a) => (float[2] y, float[2] a) { y = Neg(a) }",
        None,
        [[-1, 2], [1, -2]],
        None,
    ),
    "an output twice": (
        "(float[N] a) => (float[N] y, float[N] y) { y = Neg(a) }",
        None,
        [[-1, 2], [-1, 2]],
        None,
    ),
    "state that follows an input": (
        "(float[2] a, float[2] h) => (float[2] y, float[2] a) { y = Add(a, h) }",
        "a",
        [[4, 2]],
        [1, -2],
    ),
    "state of open size that follows an input": (
        "(float[N] a, float[N] h) => (float[N] a, float[N] y) { y = Add(a, h) }",
        "a",
        [[4, 2]],
        [1, -2],
    ),
    "state that follows itself": (
        "(float[2] a, float[2] h) => (float[2] h, float[2] y) { y = Add(a, h) }",
        "h",
        [[4, 2]],
        [3, 4],
    ),
    "state that is a result as well": (
        "(float[N] a, float[N] h) => (float[N] y, float[N] z, float[N] y) { y = Add(a, h) z = Neg(h) }",
        "y",
        [[-3, -4]],
        [4, 2],
    ),
}


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("case", UNUSUAL)
def test_outputs_that_are_inputs_and_outputs_that_stand_twice(case: str, reuse: bool) -> None:
    text, follows, wanted, state = UNUSUAL[case]
    model = load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {text}'))
    first = None if follows is None else {"h": f32(3, 4)}
    session = model.session(state=first, pairs=first and {"h": follows}, reuse=reuse)
    for form in (np.array, on_device):
        given = f32(1, -2)
        found = session(form(given))
        given[:] = 0  # no result is the caller's memory
        found = found if isinstance(found, tuple) else (found,)
        found = [each.numpy() if isinstance(each, EagerTensor) else each for each in found]
        assert [each.tolist() for each in found] == wanted
        if state is not None:
            assert session.state["h"].tolist() == state
            session.state = first


def test_a_weight_that_nothing_reads() -> None:
    weight = onnx.numpy_helper.from_array(np.zeros(5000, np.float32), "w")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[2] a) => (float[2] y) { y = Neg(a) }'
    )
    model.graph.initializer.append(weight)
    assert load(model).session()(f32(1, 2)).tolist() == [-1, -2]


def test_inputs_with_defaults() -> None:
    text = "(float[2] a, float[2] b) => (float[2] y) <float[2] b = {1.0, 2.0}> { y = Add(a, b) }"
    model = load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {text}'))
    assert model.session()(f32(1, 1)).tolist() == [2, 3]
    with pytest.raises(ModelInputError, match="'b' has a default, which a session keeps"):
        model.session()(f32(1, 1), b=f32(0, 0))
    session = model.session(state={"b": f32(5, 5)}, pairs={"b": "y"})
    session(f32(1, 1))
    session(f32(1, 1))
    assert session.state["b"].tolist() == [7, 7]


def test_small_inputs_of_a_step_in_every_form() -> None:
    """Where all results are small or state, inputs are copied into buffers that stay bound."""
    step = trace(
        lambda x, n, h: (h + x * 2.0, x.max() + op.Cast(n, to=1)),
        FLOAT["K", 3],
        INT64,
        FLOAT[2, 3],
        output_names=["h_next", "most"],
    )
    session, state = step.session(state={"h": np.zeros((2, 3), np.float32)}), np.zeros((2, 3), np.float32)
    rng = np.random.default_rng(0)
    for count in range(12):
        x = rng.normal(size=(2, 6)).astype(np.float32)[:, ::2][: 1 + count % 2]
        if count == 6:
            state = state * np.float32(0.5)
            session.state = {"h": state}
        most = (
            session(x, np.array(count)) if count % 3 else session(n=np.array(count), x=np.asfortranarray(x))
        )
        state = state + x * np.float32(2)
        assert most == x.max() + count
        assert np.array_equal(session.state["h"], state)


def test_another_size_than_an_output_declares() -> None:
    text = "(float[N] a, float[2] h) => (float[2] y, float[2] z) { y = Identity(h) z = Neg(a) }"
    model = load(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {text}'))
    session = model.session(state={"h": f32(1, 2)}, pairs={"h": "y"})
    if DEVICE.kind == "cpu":
        with pytest.raises(OperatorFailedError, match=r"'z' is declared as FLOAT\[2\], and has another size"):
            session(f32(1, 2, 3))
    assert session(f32(1, 2)).tolist() == [-1, -2]
    assert session.state["h"].tolist() == [1, 2]


REFUSED = {
    "no value": (lambda: total().session(state={"sum": f32(0, 0)})(None), ModelInputError, "was given None"),
    "state that never fits again": (
        lambda: trace(lambda h: op.Concat(h, h, axis=0), FLOAT[2], output_names=["h_next"]).session(
            state={"h": f32(0, 0)}
        ),
        SessionStateError,
        "what a run gives has to be what the next one takes",
    ),
    "a pair that is no name": (
        lambda: total().session(state={"sum": f32(0, 0)}, pairs={"sum": 1}),
        AttributeTypeError,
        "by its name, not an int",
    ),
    "no such input": (lambda: total().session(state={"summ": 0.0}), SessionStateError, "did you mean 'sum'"),
    "no output follows": (
        lambda: total().session(state={"x": f32(0, 0)}),
        SessionStateError,
        "follows the state 'x'",
    ),
    "another shape": (lambda: total().session(state={"sum": f32(0)}), SessionStateError, r"has shape \(2,\)"),
    "another element type": (
        lambda: total().session(state={"sum": np.zeros(2)}),
        SessionStateError,
        "was given float64",
    ),
    "what follows has another rank": (
        lambda: total().session(state={"sum": f32(0, 0)}, pairs={"sum": "before"}),
        SessionStateError,
        "what a run gives has to be what the next one takes",
    ),
    "one output for two": (
        lambda: total().session(state={"sum": f32(0, 0), "x": f32(0, 0)}, pairs={"x": "sum_next"}),
        SessionStateError,
        "follows both",
    ),
    "a pair without a value": (
        lambda: total().session(pairs={"sum": "sum_next"}),
        SessionStateError,
        "no first value",
    ),
    "no mapping": (lambda: total().session(state=[f32(0, 0)]), AttributeTypeError, "a mapping"),
    "a number as a name": (
        lambda: total().session(state={1: f32(0, 0)}),
        AttributeTypeError,
        "from names of inputs, not from an int",
    ),
    "too many inputs": (
        lambda: total().session(state={"sum": f32(0, 0)})(f32(1, 1), f32(0, 0)),
        ModelInputError,
        "1 input",
    ),
    "state given in a call": (
        lambda: total().session(state={"sum": f32(0, 0)})(x=f32(1, 1), sum=f32(0, 0)),
        ModelInputError,
        "no input 'sum'",
    ),
    "an input of another element type": (
        lambda: total().session(state={"sum": f32(0, 0)})(np.ones(2)),
        ModelInputError,
        "is float32, and was given float64",
    ),
    "what is no tensor": (
        lambda: total().session(state={"sum": f32(0, 0)})(object()),
        InputTypeError,
        "cannot take",
    ),
    "state that is not whole": (
        lambda: setattr(total().session(state={"sum": f32(0, 0)}), "state", {}),
        SessionStateError,
        "'sum' is missing",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    attempt, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        attempt()


def test_the_reference_evaluator_has_no_sessions() -> None:
    with (
        using(device="cpu", runtime="reference"),
        pytest.raises(NotRunnableError, match="a session is ONNX Runtime's"),
    ):
        total().session(state={"sum": f32(0, 0)})


def test_lists_and_texts_are_no_tensors_of_numbers() -> None:
    lists = trace(lambda xs: op.ConcatFromSequence(xs, axis=0), SequenceType(FLOAT["N"]))
    texts = trace(lambda s: op.Concat(s, s, axis=0), STRING["N"])
    for model in (lists, texts):
        with pytest.raises(CallError, match="call the model itself"):
            model.session()


def test_another_element_type_of_another_library() -> None:
    torch = pytest.importorskip("torch")
    model = trace(lambda x: x * 2.0, FLOAT["N"])
    for call in (model, model.session()):
        with pytest.raises(ModelInputError, match=r"was given float64(.|\n)*convert it to float32 first"):
            call(torch.ones(2).double())


def test_state_that_changes_places_and_state_that_stays() -> None:
    swap = trace(lambda a, b: (b, a), FLOAT[1], FLOAT[1], output_names=["a_next", "b_next"])
    session = swap.session(state={"a": f32(1), "b": f32(2)})
    found = []
    for _ in range(3):
        assert session() is None
        found.append([float(each[0]) for each in session.state.values()])
    assert found == [[2, 1], [1, 2], [2, 1]]
    frozen = trace(lambda x, w: (op.Identity(w), x + w), FLOAT[1], FLOAT[1], output_names=["w_next", "y"])
    session = frozen.session(state={"w": f32(3)})
    assert [float(session(f32(k))[0]) for k in range(4)] == [3, 4, 5, 6]


def test_sizes_at_random_and_garbage_between() -> None:
    """No result is written over, whatever the sizes of later ones."""
    session = trace(lambda x: (op.Relu(x), op.NonZero(x)), FLOAT["N", "M"]).session()
    rng, held = np.random.default_rng(0), []
    for count in range(400):
        x = rng.normal(size=rng.integers(0, 20, 2)).astype(np.float32)
        relu, places = session(x)
        held.append((np.maximum(x, 0), relu, np.array(np.nonzero(x)), places))
        if count % 50 == 0:
            assert all(np.array_equal(a, b) and np.array_equal(c, d) for a, b, c, d in held)
            held = held[-10:]
            gc.collect()


def test_two_threads_do_not_meet_in_one_session() -> None:
    """While one thread runs it, another is told to take a session of its own."""
    model = trace(lambda x: op.MatMul(x, x), FLOAT["N", "N"])
    session = model.session()
    session._lock.acquire()  # as a run in another thread has it
    with pytest.raises(SessionInUseError, match=r"each thread takes its own: model\.session\(\)"):
        session(np.eye(2, dtype=np.float32))
    with pytest.raises(SessionInUseError):
        session.state  # noqa: B018  # it is read while a run writes to it
    session._lock.release()
    wrong: list[object] = []

    def work(size: int) -> None:
        for _ in range(40):
            try:
                if not np.array_equal(session(np.eye(size, dtype=np.float32)), np.eye(size)):
                    wrong.append(size)
            except SessionInUseError:
                pass

    threads = [threading.Thread(target=work, args=[size]) for size in (50, 60, 70, 80)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    assert session(np.eye(3, dtype=np.float32)).tolist() == np.eye(3).tolist()


def test_what_a_session_is() -> None:
    session = total().session(state={"sum": f32(0, 0)})
    assert repr(session) == f"Session(x) -> before, state sum, on {DEVICE}"
    assert session.device == str(DEVICE)
    for attempt in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match=r"send the model and session\.state"):
            attempt(session)


def test_outputs_of_open_size_are_new_where_buffers_are_used_again() -> None:
    session = trace(lambda x: (x * 2.0, op.NonZero(x)), FLOAT["N", "M"]).session(reuse=True)
    for size in ((2, 3), (4, 5), (0, 1), (2, 3)):
        x = np.ones(size, np.float32)
        doubled, places = session(x)
        assert np.array_equal(doubled, x * 2)
        assert np.array_equal(places, np.nonzero(x))


def test_large_results_of_fixed_size_are_written_over_where_buffers_are_used_again() -> None:
    for reuse in (True, False):
        session = trace(lambda x: x * 2.0, FLOAT[4000]).session(reuse=reuse)
        results = [session(np.full(4000, k, np.float32)) for k in range(4)]
        if DEVICE.kind == "cpu":  # from elsewhere it is a copy
            assert np.shares_memory(results[0], results[2]) is reuse
        assert results[3][0] == 6
        if not reuse:
            assert [each[0] for each in results] == [0, 2, 4, 6]


@pytest.mark.parametrize(("chosen", "text"), [({}, "0"), ({"enable_mem_pattern": True}, "1")])
def test_sessions_with_state_have_no_memory_pattern_unless_it_is_chosen(
    chosen: dict[str, bool], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps the memory of a step of training twice."""
    made: list[tuple[tuple[str, str], ...]] = []
    create = onnxruntime_api.create_session

    def watched(*given: Any, **named: Any) -> Any:
        made.append(named["choices"].options)
        return create(*given, **named)

    monkeypatch.setattr(onnxruntime_api, "create_session", watched)
    model = trace(lambda x, sum: sum + x, FLOAT[2], FLOAT[2], output_names=["sum_next"])
    with using(device="cpu", session_options=chosen):
        model.session(state={"sum": np.zeros(2, np.float32)})(np.float32([1, 2]))
    assert ("enable_mem_pattern", text) in made[-1]
    with using(device="cpu"):
        trace(lambda x: x * 3.0, FLOAT[2]).session()(np.float32([1, 2]))
    assert all(name != "enable_mem_pattern" for name, _ in made[-1])
