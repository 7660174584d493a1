"""Python's numbers and built-in functions where only the model knows the values: Python's own result, or an error."""

from __future__ import annotations

import itertools
import logging
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import onnxsmith
import onnxsmith.numpy
from onnxsmith import FLOAT, errors, script
from onnxsmith import opset21 as op


def negative_power_in_a_loop(x: FLOAT["N"]):
    s = 0.0
    for i in range(len(x)):
        s = s + 2**-i
    return s


def power_of_a_difference(x: FLOAT["N"]):
    return 2 ** (len(x) - 5) * x


@pytest.mark.parametrize("function", [negative_power_in_a_loop, power_of_a_difference])
def test_powers_of_which_nobody_knows_the_sign(function: Any) -> None:
    with pytest.raises(errors.TracedValueError, match="power of a number that may be negative"):
        script(function)


def powers_of_counters(x: FLOAT["N"]):
    s = 0
    for i in range(len(x)):
        s = s + 2 ** (i + 1) + 3 ** (i * 2) + 2 ** (i // 2)
    return s


def negative_powers_in_a_known_loop(x: FLOAT["N"]):
    s = 0.0
    for i in range(3):
        s = s + 2**-i
    return s + x


def power_of_a_size(x: FLOAT["N"]):
    return 2 ** len(x)


def power_that_is_known(x: FLOAT["N"]):
    return len(x) ** -1


def power_of_what_is_not_negative(x: FLOAT["N"]):
    return 2 ** max(len(x) - 5, 0) + 2 ** abs(len(x) - 5)


@pytest.mark.parametrize(
    "function",
    [
        powers_of_counters,
        negative_powers_in_a_known_loop,
        power_of_a_size,
        power_that_is_known,
        power_of_what_is_not_negative,
    ],
)
def test_powers(function: Any) -> None:
    x = np.float32([1, 2, 3])
    written = script(function)
    for result in (written(x), written.to_model()(x)):
        np.testing.assert_allclose(np.asarray(result), np.asarray(function(x)), rtol=1e-6)


def added(x: FLOAT["N"]):
    return len(x) + 2**70


def compared(x: FLOAT["N"]):
    return len(x) < 2**70


def chosen(x: FLOAT["N"]):
    return 2**70 if x.sum() > 0 else 1


def counted(x: FLOAT["N"]):
    s = 0.0
    for _ in range(2**70):
        s = s + x.sum()
        if s > 5:
            break
    return s


def counted_from_a_size(x: FLOAT["N"]):
    s = 0.0
    for _ in range(len(x), 2**70):
        s = s + x.sum()
    return s


def carried(x: FLOAT["N"]):
    c = 2**70
    for _ in x:
        c = c * 3
    return c


def greatest(x: FLOAT["N"]):
    return max(len(x), 2**70)


def index(x: FLOAT["N"]):
    return x[len(x) - 2**70]


@pytest.mark.parametrize(
    "function", [added, compared, chosen, counted, counted_from_a_size, carried, greatest, index]
)
def test_integers_past_64_bits(function: Any) -> None:
    with pytest.raises((errors.LiteralError, errors.LoopTypeError), match="int64 holds -9223372036854775808"):
        script(function)


@script
def least_of_tensors(x: FLOAT[3]):
    return min(x[0], x[1], x[2])


@script
def greatest_of_numbers(x: FLOAT[3]):
    return max(float(x[0]), 1.0, float(x[1]), float(x[2]))


@script
def least_element(x: FLOAT["N"]):
    return min(x)


@script
def greatest_element(x: FLOAT["N"]):
    return max(x)


def test_min_and_max_follow_pythons_rule() -> None:
    """NaN counts where it comes first, and only there."""
    models = {
        each: each.to_model()
        for each in (least_of_tensors, greatest_of_numbers, least_element, greatest_element)
    }
    for values in itertools.product([np.nan, 0.0, 2.0, -np.inf, np.inf], repeat=3):
        x = np.float32(values)
        expected = {
            least_of_tensors: min(values),
            greatest_of_numbers: max(values[0], 1.0, *values[1:]),
            least_element: min(values),
            greatest_element: max(values),
        }
        for each, model in models.items():
            for result in (each(x), model(x)):
                np.testing.assert_array_equal(
                    np.float32(result), np.float32(expected[each]), err_msg=f"{values}"
                )


def test_rows_have_no_least() -> None:
    with pytest.raises(errors.ConditionError, match="single numbers"):
        script(_least_row)


def _least_row(x: FLOAT["N", 2]):
    return min(x)


LOG = logging.getLogger("onnxsmith.test")


def told(x: FLOAT["N"]):
    if x.sum() > 0.0:
        logging.warning("told")
        LOG.error("told %s", x)
        warnings.warn("told", stacklevel=1)
        sys.stdout.write("told")
        sys.stderr.write("told")
        x = x + 1.0
    return x


def test_only_a_run_on_values_tells_people_something(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    made = script(told)
    model = made.to_model()
    assert "told" not in caplog.text + "".join(capsys.readouterr())
    assert not recwarn.list
    values = np.ones(2, np.float32)
    assert np.array_equal(np.asarray(made(values)), np.asarray(model(values)))
    assert caplog.text.count("told") == 2
    assert "".join(capsys.readouterr()).count("told") >= 2
    assert [str(each.message) for each in recwarn.list] == ["told"]


def _prints_percent(x: Any) -> Any:
    print("%d of %s" % (x.shape[0], x), "%5.2f%%" % x.shape[0])  # noqa: UP031
    print("%(n)d" % {"n": x.shape[0]})  # noqa: UP031
    print(f"{x.shape[0]}", "{}".format(x.shape[0]))  # noqa: UP032
    return x + 1


def _keeps_percent(x: Any) -> Any:
    text = "%d" % x.shape[0]  # noqa: UP031
    return x + len(text)


def _called(make: Any, function: Any) -> Any:
    made = make(function)
    call = made.to_model(input_types=[FLOAT["N"]]) if make is script else made
    return call(np.float32([1, 2]))


@pytest.mark.parametrize("make", [script, onnxsmith.jit, onnxsmith.numpy.jit])
def test_text_of_a_size_is_printed_and_refused_elsewhere(make: Any) -> None:
    np.testing.assert_array_equal(_called(make, _prints_percent), [2, 3])
    with pytest.raises(errors.TracedValueError) as caught:
        _called(make, _keeps_percent)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def built_ins_of_known_values(x: FLOAT["N"]):
    values = [
        *(len([1, 2, 3]), len("abc"), len(range(5)), len((1,)), len({"a": 1}), len({1, 2})),
        *(max(3, 1), max([4, 2]), max([1, -3], key=abs), min(3, 1), min([4, 2]), min([], default=9)),
        *(
            sum([1, 2]),
            sum([1, 2], 5),
            abs(-3),
            abs(-2.5),
            round(2.567, 2),
            round(2.5),
            pow(2, 3),
            pow(2, 5, 7),
        ),
        *(
            *divmod(7, 2),
            *divmod(-7.5, 2),
            int("4"),
            int(2.9),
            int("11", 2),
            float("2.5"),
            float(3),
            bool([]),
            bool("a"),
        ),
        *(any([0, 1]), any([]), all([0, 1]), all([]), *sorted([3, 1, 2]), *sorted([3, 1, 2], reverse=True)),
        *(
            *reversed([1, 2]),
            *[k + v for k, v in enumerate([5, 6], 1)],
            *[a * b for a, b in zip([1, 2], [3, 4], strict=True)],
        ),
        *(*map(abs, [-1, 2]), *filter(None, [0, 1, 2]), *range(2, 9, 3)),
        *(
            isinstance(3, int),
            isinstance(3, str),
            issubclass(bool, int),
            callable(len),
            hasattr([], "append"),
        ),
        *(
            getattr([1], "missing", 7),
            ord("a"),
            len(str(12)),
            len(repr("a")),
            hash(3),
            next(iter([5])),
            next(iter([]), 8),
        ),
        *(
            len(list(range(3))),
            len(tuple(range(2))),
            len(dict(enumerate("a"))),
            len(set(range(2))),
            len(bin(5)),
            len(hex(255)),
        ),
    ]
    return x + op.Constant(value_floats=[float(each) for each in values])


def test_built_in_functions_of_what_is_known() -> None:
    x = np.zeros(1, np.float32)
    written = script(built_ins_of_known_values)
    wanted = np.asarray(built_ins_of_known_values(x))
    assert len(wanted) > 60
    for result in (written(x), written.to_model()(x)):
        np.testing.assert_array_equal(np.asarray(result), wanted)


def built_ins_of_open_values(x: FLOAT["N", "M"]):
    n, m = len(x), x.shape[1]
    values = [
        max(n, m),
        min(n, 3),
        abs(n - m),
        sum([n, m, 1]),
        n // 2,
        int(n / 2),
        float(n),
        round(n / 3, 1),
        pow(n, 2),
    ]
    values += [*divmod(n, 2), max([n, m, 2]), min(n, m, 9), int(n > m), sum([n, m], 5), round(m / 2)]
    total = x * 0.0
    for place, each in enumerate(values):
        total = total + each * 10.0 ** (place % 3)
    return total


def test_built_in_functions_of_sizes() -> None:
    written = script(built_ins_of_open_values)
    for shape in ((2, 5), (7, 3), (1, 1)):
        x = np.ones(shape, np.float32)
        wanted = np.asarray(built_ins_of_open_values(x))
        for result in (written(x), written.to_model()(x)):
            np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)
