"""The text of symbolic values: people see it, and the program does not."""

from __future__ import annotations

import json
import linecache
import logging
import pdb
import pprint
import string
import sys
import traceback
import warnings
from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, script, trace
from onnxsmith.errors import OnnxsmithError, TracedValueError, UnsupportedSyntaxError

_LOGGER = logging.getLogger("test_shown_text")


class Box:
    """An object whose text holds that of a number."""

    def __init__(self, size: Any) -> None:
        self.size = size

    def __repr__(self) -> str:
        return f"Box({self.size})"


class Holder:
    """An object with a logger, as many have."""

    log = _LOGGER


def _debugged(n: Any) -> None:
    debugger = pdb.Pdb(stdin=StringIO("p n\nn\nf'{n}'\nc\n"), stdout=StringIO())
    debugger.use_rawinput = False
    debugger.set_trace(sys._getframe())


def _traced_back(n: Any) -> None:
    try:
        raise ValueError(n)
    except ValueError:
        traceback.format_exc()


SHOWN: list[Callable[[Any], object]] = [
    lambda n: print(n),
    lambda n: print(f"{n}", f"{n}", str(n), [n], file=sys.stderr),
    lambda n: print(", ".join(f"{each}" for each in [n])),
    lambda n: print(Box(n)),
    lambda n: _LOGGER.warning("size %s", n),
    lambda n: _LOGGER.warning(f"size {n}"),
    lambda n: Holder.log.warning(f"size {Box(n)}"),
    lambda n: logging.getLogger("test_shown_text").warning(f"size {n}"),
    lambda n: sys.stderr.write(f"size {n}\n"),
    lambda n: warnings.warn(f"size {n}", stacklevel=1),
    lambda n: pprint.pprint([n]),
    _debugged,
    _traced_back,
]


@pytest.mark.parametrize("show", SHOWN)
@pytest.mark.filterwarnings("ignore:size")
def test_people_see_it(show: Callable[[Any], object]) -> None:
    def program(x: Any) -> Any:
        show(x.shape[0])
        show(x.shape)
        show(x.sum())
        return x + 1.0

    model = trace(program, FLOAT["N"])
    assert model(np.float32([1])) == np.float32([2])


def test_a_trace_prints_the_symbolic_value(capsys: pytest.CaptureFixture[str]) -> None:
    trace(lambda x: (print(x.shape, f"{x.shape[0]}"), x + 1.0)[1], FLOAT["N"])
    assert capsys.readouterr().out == "('N',) <symbolic int gather>\n"


def test_the_message_of_an_error_shows_it() -> None:
    def program(x: Any) -> Any:
        raise ValueError(f"a size of {x.shape[0]}")

    with pytest.raises(ValueError, match="a size of <symbolic int"):
        trace(program, FLOAT["N"])
    with pytest.raises(ValueError, match="a size of <symbolic int"):
        script(program).to_model(input_types=[FLOAT["N"]])


def _plain(text: str) -> Any:
    """A function of a text: pytest writes assertions of its own in the place of those in tests."""
    names: dict[str, Any] = {}
    linecache.cache["<plain>"] = (len(text), None, text.splitlines(True), "<plain>")
    exec(compile(text, "<plain>", "exec"), names)
    return names["program"]


def test_the_message_of_an_assertion_shows_it() -> None:
    program = _plain('def program(x):\n    assert x is None, f"a size of {x.shape[0]}"\n')
    with pytest.raises(AssertionError, match="a size of <symbolic int"):
        trace(program, FLOAT["N"])


def test_the_condition_of_an_assertion_does_not() -> None:
    program = _plain('def program(x):\n    assert str(x.shape[0]) == "3", "a size"\n')
    with pytest.raises(TracedValueError, match="needs the text"):
        trace(program, FLOAT["N"])


def test_a_message_that_the_code_catches_is_refused() -> None:
    def program(x: Any) -> Any:
        try:
            raise ValueError(f"{len(x)}")
        except ValueError as error:
            return x * float(str(error))

    with pytest.raises(TracedValueError, match="needs the text"):
        xp.jit(program)(np.ones(3))


def test_an_error_of_json_that_the_code_catches_is_refused() -> None:

    def program(x: Any) -> Any:
        try:
            return x * float(json.dumps(len(x)))
        except TypeError:
            return x

    with pytest.raises(TracedValueError, match="not JSON serializable"):
        xp.jit(program)(np.ones(3))


def test_the_text_of_an_object_that_holds_one_is_refused() -> None:
    with pytest.raises(TracedValueError, match="needs the text"):
        trace(lambda x: x * len(str(Box(x.shape[0]))), FLOAT["N"])


def test_text_is_free_when_nothing_is_recorded() -> None:
    kept: list[Any] = []

    def program(x: Any) -> Any:
        kept.extend([x, x.shape, x.shape[0]])
        return x + 1.0

    trace(program, FLOAT["N"])
    assert [str(each) for each in kept[:2]] == ["<symbolic tensor x: FLOAT['N']>", "('N',)"]


@pytest.mark.parametrize("stage", [xp.jit, lambda f: xp.to_model(f, FLOAT["N"])])
def test_arrays_of_numpy_code_print(stage: Callable[[Any], Any]) -> None:
    def program(x: Any) -> Any:
        print(x, f"{x.sum():.2f}", x.shape)
        return x + 1

    assert stage(program)(np.float32([1])) == np.float32([2])


def test_a_refusal_names_the_users_line() -> None:
    with pytest.raises(OnnxsmithError) as caught:
        trace(lambda x: x * len(string.Template("$a").substitute(a=x.shape[0])), FLOAT["N"])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_variable_that_only_errors_read_holds_it() -> None:
    def program(x: Any) -> Any:
        if x.sum() > 2:
            msg = "a size of %s" % (x.shape[0],)  # noqa: UP031  # the form is what is tested
            msg += f", shape {x.shape}"
            raise ValueError(msg)
        return x + 1

    made = xp.jit(program)
    assert made(np.ones(2)).tolist() == [2, 2]
    with pytest.raises(ValueError, match="a size of <symbolic int"):
        made(np.ones(3))


def test_a_variable_that_the_program_reads_does_not() -> None:
    def program(x: Any) -> Any:
        key = f"{x.shape[0]}"
        if key == "3":
            raise ValueError(key)
        return x + 1

    with pytest.raises(TracedValueError, match="needs the text"):
        xp.jit(program)(np.ones(2))


def test_what_is_printed_into_a_buffer_is_refused() -> None:
    def program(x: Any) -> Any:
        buffer = StringIO()
        print(x.shape[0], file=buffer)
        return x * len(buffer.getvalue())

    with pytest.raises(TracedValueError, match="needs the text"):
        trace(program, FLOAT["N"])
    with pytest.raises(UnsupportedSyntaxError, match="print to a file or a buffer"):
        script(program).to_model(input_types=[FLOAT["N"]])
