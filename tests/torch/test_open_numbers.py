"""Sizes as arguments that are plain numbers: a factor, a limit, an exponent that only the model knows."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional  # noqa: E402

import onnxsmith  # noqa: E402
from onnxsmith.errors import (  # noqa: E402
    SpecialisedDimensionWarning,
    TracedValueError,
    UntranslatedOperatorError,
)


class Scaled(nn.Module):
    """A function of a tensor and of its first size."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x, x.shape[0])


#: Functions of `x`, of shape (n, 3), and n.
CASES = {
    "addmm, beta": lambda x, n: torch.addmm(x @ x.T, x, x.T, beta=n),
    "addmm, alpha": lambda x, n: torch.addmm(x @ x.T, x, x.T, alpha=n),
    "addmm, complex": lambda x, n: torch.addmm(x @ x.T + 0j, x + 1j, x.T + 0j, beta=n, alpha=n),
    "addmm, no inner": lambda x, n: torch.addmm(x @ x.T, x[:, :0], x.T[:0], beta=n),
    "baddbmm": lambda x, n: torch.baddbmm((x @ x.T)[None], x[None], x.T[None], beta=n, alpha=n),
    "addr": lambda x, n: torch.addr(x, x[:, 0], x[0], beta=n, alpha=n),
    "addcdiv": lambda x, n: torch.addcdiv(x, x, x.abs() + 1, value=n),
    "addcmul, complex": lambda x, n: torch.addcmul(x + 1j, x + 1j, x + 1j, value=n),
    "add, alpha": lambda x, n: torch.add(x, x, alpha=n),
    "rsub": lambda x, n: torch.rsub(x, n, alpha=n),
    "softplus": functional.softplus,
    "softplus, threshold": lambda x, n: functional.softplus(x, 1, n),
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "celu": functional.celu,
    "hardtanh": lambda x, n: functional.hardtanh(x, -n, n),
    "softshrink": functional.softshrink,
    "threshold": lambda x, n: functional.threshold(x, n, n),
    "clamp": lambda x, n: torch.clamp(x, -n, n),
    "pow": lambda x, n: x**n,
    "remainder": lambda x, n: torch.remainder(n, x.abs() + 1),
    "floor_divide": lambda x, n: x // n,
    "lerp": lambda x, n: torch.lerp(x, 2 * x, n),
    "index_add": lambda x, n: x.index_add(0, torch.tensor([0, 1]), x[:2], alpha=n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "scatter": lambda x, n: x.scatter(0, torch.zeros(1, 3, dtype=torch.int64), n),
    "scatter of a scalar": lambda x, n: x[0, 0].scatter(0, torch.zeros((), dtype=torch.int64), n),
    "full_like": torch.full_like,
    "arange": lambda x, n: torch.arange(0, 4 * n, n) + x[0, 0],
    "linspace": lambda x, n: torch.linspace(0, n, 5) + x[0, 0],
    "shift": lambda x, n: x.to(torch.int64) << n,
    "roll": lambda x, n: torch.roll(x, n, 0),
    "multi_margin_loss": lambda x, n: functional.multi_margin_loss(
        x, torch.zeros(x.shape[0], dtype=torch.int64), margin=n
    ),
    "var, correction": lambda x, n: torch.var(x, correction=n),
}


@pytest.mark.parametrize("case", CASES)
def test_a_law_a_size_is_a_number(case):
    torch.manual_seed(0)
    x = torch.randn(4, 3)
    model = onnxsmith.torch.export(Scaled(CASES[case]), (x,), dynamic_shapes={"x": {0: "n"}}, verify=True)
    # Other sizes than the example's were compared as well.
    assert len({each.inputs for each in model.export_report.verification}) > 1


@pytest.mark.parametrize("case", ["vector_norm", "dist", "histc"])
def test_where_onnx_needs_the_number_now_that_is_the_reason(case):
    functions = {
        "vector_norm": torch.linalg.vector_norm,
        "dist": lambda x, n: torch.dist(x, 2 * x, n),
        "histc": lambda x, n: torch.histc(x, 5, min=0, max=n),
    }
    with pytest.raises(UntranslatedOperatorError) as raised:
        onnxsmith.torch.export(Scaled(functions[case]), (torch.randn(4, 3),), dynamic_shapes={"x": {0: "n"}})
    assert "a number that only the model knows, where ONNX needs it now" in str(raised.value)
    assert "test_open_numbers.py" in str(raised.value)


# -- the text of a size --------------------------------------------------------------------------------------


def _helper(x, n):
    """A text that is made in one function and used in another."""
    return len(_named(n))


def _named(n):
    return f"size {n}"


#: Numbers that are made of the text of a size.
TEXTS = {
    "str": lambda x, n: len(str(n)),
    "repr": lambda x, n: len(repr(n)),
    "f-string": lambda x, n: len(f"{n}"),
    "f-string, digits": lambda x, n: len(f"{n:3d}"),
    "%s": lambda x, n: len("%s" % n),  # noqa: UP031
    "format": lambda x, n: len("{}".format(n)),  # noqa: UP032
    "join": lambda x, n: len(",".join(map(str, x.shape))),
    "shape": lambda x, n: len(str(x.shape)),
    "formula": lambda x, n: len(str(n * 2 + 1)),
    "float": lambda x, n: len(str(n / 2)),
    "comparison": lambda x, n: len(str(n > 3)),
    "key": lambda x, n: {"4": 1.0, "12": 2.0}.get(f"{n}", 5.0),
    "in another function": _helper,
}


def _exported(function, *, is_training=False, **options):
    module = Scaled(lambda x, n: x * function(x, n)).train(is_training)
    return onnxsmith.torch.export(module, (torch.ones(4, 3),), dynamic_shapes={"x": {0: "n"}}, **options)


@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize("case", TEXTS)
def test_text_of_a_size_that_flows_back_is_refused(case, is_training):
    with pytest.raises(
        TracedValueError, match="the text of a size that is known only when the model runs"
    ) as e:
        _exported(TEXTS[case], is_training=is_training)
    assert "test_open_numbers.py" in str(e.value)
    assert torch.SymInt.__repr__.__module__ == "torch"
    assert "__format__" not in vars(torch.SymInt)


def test_the_digits_of_a_size_fix_it():
    with pytest.warns(SpecialisedDimensionWarning):
        model = _exported(lambda x, n: len("%d" % n))  # noqa: UP031
    np.testing.assert_array_equal(model(np.ones((4, 3), np.float32)), np.ones((4, 3)))


@pytest.mark.parametrize("case", ["f-string", "key"])
def test_where_torch_reads_the_code_the_size_is_fixed(case):
    with pytest.warns(SpecialisedDimensionWarning):
        model = _exported(TEXTS[case], strict=True)
    np.testing.assert_array_equal(model(np.ones((4, 3), np.float32)), np.ones((4, 3)))


def _raised(x, n):
    if n < 0:
        raise ValueError(f"{n} rows")
    assert n >= 0, f"{n} rows"
    return 2


def _shown(x, n):
    print(f"{n:3d} rows of", x.shape)
    logging.getLogger("tests").warning("%s rows", n)
    warnings.warn(f"{n} rows", stacklevel=1)
    return 2


def _asserted(x, n):
    torch._assert(n >= 0, f"{n} rows")
    torch._check(n >= 0, lambda: f"{n} rows")
    return 2


class _Logger(logging.Logger):
    def warning_once(self, text):
        self.warning(text)


LOGGER = _Logger("tests")


def _logged_once(x, n):
    LOGGER.warning_once(f"{n} rows")
    return 2


SHOWN = {
    "raise": _raised,
    "shown": _shown,
    "torch's checks": _asserted,
    "once": _logged_once,
    "static": lambda x, n: len(str(x.shape[1])) * 2,
}


@pytest.mark.filterwarnings("ignore:.* rows")
@pytest.mark.parametrize("case", SHOWN)
def test_people_see_the_text_of_a_size(case):
    model = _exported(SHOWN[case])
    for size in (4, 7):
        np.testing.assert_array_equal(model(np.ones((size, 3), np.float32)), np.full((size, 3), 2.0))
