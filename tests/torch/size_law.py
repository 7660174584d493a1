"""The law of sizes: a model is right in every size that it takes, and says which it does not take.

The cases are the sixty uses of a size, and modules drawn from steps that use one; each is exported with an example of
five rows and with one of one row. torch is the oracle, on sizes from 0 on.

Some 45 % of the drawn cases count as refused (46 of 104 of seeds 2611187 and 2611188), as one size of ten that is
refused is enough, and a case has up to three steps. The kinds, of which each is told when the module is exported:

- a decision of Python's by a size (`2 if n % 2 == 0 else 3`, `n > 3`, a dict): an export follows one side of it, as
  torch.onnx does, and the model takes the sizes of that side;
- a decision that only some elements show (`2 if n == 1 else 3`, times elements above 3): the size is left out;
- as many pieces as the size makes (`split`, `chunk`, a loop over rows): their nodes are those of the example's size;
- what Python itself converts (`float(n)`, `round(n / 3, 1)`, `len(x)`): `strict=True` reads the code instead;
- no rows at all, where torch decides for sizes above 0.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import random
import warnings
from collections.abc import Callable, Generator, Iterator
from typing import Any, Literal

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

import onnxsmith
from onnxsmith.errors import OnnxsmithError
from tests.laws.named import Law, Verdict
from tests.torch.size_uses import USES, Use, beside, rows

SIZES = (0, 1, 2, 3, 4, 5, 6, 8, 9, 17)
EXAMPLES = (5, 1)
#: Larger than all elements of the examples; models are run on these, and on as many times larger ones.
_RARE = 3.0

#: A number that a module computes from the size of a tensor.
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "n": lambda x: x.shape[0],
    "len": len,
    "size(0)": lambda x: x.size(0),
    "numel": lambda x: x.numel(),
    "n // 2": lambda x: x.shape[0] // 2,
    "-(-n // 2)": lambda x: -(-x.shape[0] // 2),
    "n % 3": lambda x: x.shape[0] % 3,
    "n ** 2": lambda x: x.shape[0] ** 2,
    "1 / (n + 1)": lambda x: 1 / (x.shape[0] + 1),
    "float": lambda x: float(x.shape[0]),
    "int(n / 2)": lambda x: int(x.shape[0] / 2),
    "round(n / 3)": lambda x: round(x.shape[0] / 3),
    "round(n / 3, 1)": lambda x: round(x.shape[0] / 3, 1),
    "math.sqrt": lambda x: math.sqrt(x.shape[0]),
    "math.log1p": lambda x: math.log1p(x.shape[0]),
    "math.exp": lambda x: math.exp(-x.shape[0]),
    "np.sqrt": lambda x: np.sqrt(x.shape[0]),
    "np.log": lambda x: np.log(x.shape[0] + 1),
    "ceil": lambda x: math.ceil(x.shape[0] / 3),
    "max": lambda x: max(x.shape[0], 3),
    "min": lambda x: min(2 * x.shape[0], 7),
    "abs": lambda x: abs(x.shape[0] - 4),
    "divmod": lambda x: sum(divmod(x.shape[0], 4)),
    "n > 3": lambda x: 2 if x.shape[0] > 3 else 3,
    "n == 1": lambda x: 2 if x.shape[0] == 1 else 3,
    "n even": lambda x: 2 if x.shape[0] % 2 == 0 else 3,
    "dict": lambda x: {5: 2.0, 1: 4.0}.get(x.shape[0], 1.0),
    "tensor": lambda x: torch.tensor(x.shape[0]),
}

#: Numbers that are computed of all rows, and are no numbers or errors where there are none.
_REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: x.mean(0),
    "mean of all": lambda x: x.mean(),
    "var": lambda x: x.var(0, correction=0),
    "std": lambda x: x.std(0, unbiased=False),
    "var_mean": lambda x: sum(torch.var_mean(x, 0, correction=0)),
    "nanmean": lambda x: x.nanmean(0),
    "median": lambda x: x.median(0).values,
    "amax": lambda x: x.amax(0),
    "min": lambda x: x.min(),
    "argmax": lambda x: x.argmax(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "prod": lambda x: x.prod(0),
    "norm": lambda x: x.norm(dim=0),
    "largest norm": lambda x: x.norm(math.inf, 0),
    "adaptive pool": lambda x: F.adaptive_avg_pool1d(x.T[None], 1)[0, :, 0],
    "cross entropy": lambda x: F.cross_entropy(x, torch.zeros(x.shape[0], dtype=torch.long)),
    "mse": lambda x: F.mse_loss(x, x * 2),
}


def _less(reduction: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A row beside the result, which would be lost among no rows."""
    return lambda x, k: torch.cat([x, torch.zeros(1, 3)]) - reduction(x) * k


def _over_the_first(x: Any) -> Any:
    """As `nn.MultiheadAttention` computes: rows come first, and are moved behind the batch."""
    return (x.transpose(0, 1) @ x.permute(1, 2, 0) * 0.5).softmax(-1) @ x.transpose(0, 1)


#: A step from a matrix of three columns to another one, with a number that is computed from its size.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "times": lambda x, k: x * k,
    "plus": lambda x, k: x + k,
    "full": lambda x, k: x + torch.full((x.shape[0], 1), 1.0) * k,
    "full_like": lambda x, k: torch.full_like(x, 0.5) * k - x,
    "arange": lambda x, k: x * torch.arange(x.shape[0])[:, None] + k,
    "linspace": lambda x, k: x * torch.linspace(0, 2, x.shape[0])[:, None] + k,
    "cat": lambda x, k: torch.cat([x, torch.zeros(x.shape[0], 3) + k]),
    "half": lambda x, k: x[x.shape[0] // 2 :] * k,
    "but the last": lambda x, k: x[:-1] + k,
    "first two": lambda x, k: x[:2] * k,
    "flip": lambda x, k: x.flip(0) * k,
    "roll": lambda x, k: x.roll(x.shape[0] // 2, 0) + k,
    "mean": lambda x, k: x - x.mean(0) * k,
    "softmax": lambda x, k: x.softmax(0) * k,
    "cumsum": lambda x, k: x.cumsum(0) + k,
    "matmul": lambda x, k: (x @ x.T) @ x / (x.shape[0] + 1) + k,
    "tril": lambda x, k: torch.ones(x.shape[0], x.shape[0]).tril() @ x * k,
    "reshape": lambda x, k: (x.reshape(-1) * k).reshape(x.shape[0], 3),
    "view": lambda x, k: x.reshape(1, x.shape[0], 3).squeeze(0) * k,
    "transposed": lambda x, k: x.T.contiguous().T * k,
    "split": lambda x, k: torch.cat([each * (j + k) for j, each in enumerate(x.split(3))]),
    "chunk": lambda x, k: torch.cat([each * (j + k) for j, each in enumerate(x.chunk(2))]),
    "tensor_split": lambda x, k: torch.cat([each * (j + k) for j, each in enumerate(x.tensor_split(3))]),
    "stacked pieces": lambda x, k: torch.stack([each.sum(0) for each in x.split(2)]) * k,
    "squeezed": lambda x, k: x.sum(0, keepdim=True).squeeze(0)[None] * k,
    "size of squeezed": lambda x, k: x * x.squeeze().shape[0] + k,
    "rank of squeezed": lambda x, k: x * x.squeeze().dim() + k,
    "expand": lambda x, k: x.sum(0).expand(x.shape[0], 3) * k,
    "repeat": lambda x, k: x.repeat(2, 1) + k,
    "pad": lambda x, k: F.pad(x, (0, 0, 1, x.shape[0] % 2)) + k,
    "attention": lambda x, k: F.scaled_dot_product_attention(x[None], x[None], x[None])[0] * k,
    "attention over a first dimension": lambda x, k: _over_the_first(x[:, None])[0] * k,
    "causal": lambda x, k: (
        F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=x.shape[0] > 1)[0] * k
    ),
    "one_hot": lambda x, k: F.one_hot(torch.arange(x.shape[0]), x.shape[0] + 1)[:, :-1].float() @ x * k,
    "topk": lambda x, k: x.topk(min(x.shape[0], 2), 0).values * k,
    "sorted": lambda x, k: x.sort(0).values + k,
    "masked": lambda x, k: x.masked_fill(torch.arange(x.shape[0])[:, None] > 1, 0.5) * k,
    "loop": lambda x, k: sum((row[None] * j for j, row in enumerate(x)), torch.zeros(1, 3)) + k,
    "interpolate": lambda x, k: F.interpolate(x.T[None], size=x.shape[0] + 1)[0].T * k,
    "norm": lambda x, k: F.layer_norm(x.T, (x.shape[0],)).T * k,
    **{f"{name} of rows": _less(each) for name, each in _REDUCTIONS.items()},
    "windows": lambda x, k: x.unfold(0, 2, 1).sum(-1) * k,
    "narrow": lambda x, k: x.narrow(0, 0, 2) + k,
    "average pool": lambda x, k: F.avg_pool1d(x.T[None], 2, 1)[0].T * k,
    "batch norm": lambda x, k: F.batch_norm(x, None, None, training=True) * k,
    # The number counts for elements that no row of an example has.
    "rare": lambda x, k: torch.where(x > _RARE, x * k, x),
    "limited": lambda x, k: torch.minimum(x, torch.full((), _RARE) + k),
    "two pieces": lambda x, k: torch.add(*[each[:1] for each in x.chunk(2)]) * k,
}

#: The same with a second input: of as many rows, of one row, or of five.
JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    # Not at 0: differences from a mean add up to it but for rounding.
    "where": lambda x, y: torch.where(x > 0.123, x, y),
    "outer": lambda x, y: (x @ y.T) @ y,
    "cat": lambda x, y: torch.cat([x, y]),
    # torch asks about both sizes at once.
    "down and up": lambda x, y: (
        F.interpolate(F.max_pool2d((x @ y.T)[None, None], 2), size=(x.shape[0], y.shape[0]))[0, 0] @ y
    ),
    "none": lambda x, y: x,
}
OTHERS: dict[str, tuple[Callable[[int], tuple[Any, ...]], tuple[str, ...]]] = {
    "as many": (lambda n: (rows(n), rows(n) + 1), ("n", "n")),
    "as many by another name": (lambda n: (rows(n), rows(n) + 1), ("n", "m")),
    "one": (lambda n: (rows(n), rows(1) + 1), ("n", "m")),
    "five": (beside(5), ("n", "")),
}


def _decks(draw: random.Random) -> Iterator[str]:
    """The names of steps without end: all of them, in an order that is drawn, before one comes again."""
    while True:
        yield from draw.sample([*STEPS], len(STEPS))


def drawn(draw: random.Random, names: Iterator[str]) -> tuple[str, Use]:
    """A module of a few steps, the next of these names, and what it is made of."""
    steps = [(next(names), draw.choice([*NUMBERS])) for _ in range(draw.randint(1, 3))]
    join, other = draw.choice([*JOINS]), draw.choice([*OTHERS])
    has_other = join != "none"

    def function(x: Any, y: Any = None) -> Any:
        for step, number in steps:
            x = STEPS[step](x, NUMBERS[number](x))
        return JOINS[join](x, y) if has_other else x

    text = " | ".join(f"{step}({number})" for step, number in steps)
    if not has_other:
        return text, Use(function)
    arguments, names = OTHERS[other]
    return f"{text} | {join} {other}", Use(function, arguments, names)


Tried = Literal["equal", "refused", "wrong", "computed"]


def takes(use: Use, size: int) -> bool:
    """True if torch runs a module in a size."""
    try:
        with torch.no_grad():
            use.module()(*use.arguments(size))
    except Exception:  # torch's own, and Python's
        return False
    return True


def judge(label: str, use: Use, example: int) -> tuple[Verdict, bool]:
    """The verdict on a module that is exported with an example, and whether all sizes that torch takes are right."""
    module = use.module().eval()
    label = f"{label}, example of {example}"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = onnxsmith.torch.export(
                module, use.arguments(example), dynamic_shapes=use.dynamic_shapes()
            )
        except OnnxsmithError as error:
            return Verdict("refused", f"{label}: {str(error).splitlines()[0]}"), False
        except Exception as error:  # any other is a raw one
            return Verdict("wrong", f"{label}: {type(error).__name__}: {error}"), False
    outcomes = {size: _outcome(model, module, use, size) for size in SIZES}
    wrong = [size for size, each in outcomes.items() if each == "wrong"]
    computed = [size for size, each in outcomes.items() if each == "computed"]
    refused = [size for size, each in outcomes.items() if each == "refused"]
    if wrong:
        return Verdict("wrong", f"{label}: wrong for {wrong}"), False
    if computed:
        return Verdict("wrong", f"{label}: gives results for {computed}, which torch refuses"), False
    if example in refused:
        return Verdict("wrong", f"{label}: the model refuses its example"), False
    kinds = (onnxsmith.errors.NarrowedDimensionWarning, onnxsmith.errors.SpecialisedDimensionWarning)
    is_told = any(issubclass(each.category, kinds) for each in told)
    if any(size > 0 for size in refused) and not is_told:
        return Verdict("wrong", f"{label}: refuses {refused}, and nothing is told"), False
    if refused:
        return Verdict("refused", f"{label}: refuses {refused}"), False
    return Verdict("equal"), True


def _outcome(model: Any, module: Any, use: Use, size: int) -> Tried | None:
    """The outcome of a size for the elements of the examples, and for larger ones."""
    first = _outcome_of(model, module, use.arguments(size))
    larger = tuple(each * 3 * _RARE if each.is_floating_point() else each for each in use.arguments(size))
    return "wrong" if _outcome_of(model, module, larger) == "wrong" else first


def _outcome_of(model: Any, module: Any, arguments: tuple[Any, ...]) -> Tried | None:
    size = arguments[0].shape[0]
    try:
        with torch.no_grad():
            wanted = module(*arguments).numpy()
    except Exception:  # the module takes no such size
        wanted = None
    try:
        got = np.asarray(model(*[each.numpy() for each in arguments]))
    except OnnxsmithError:
        return None if wanted is None else "refused"
    if wanted is None:
        # Of no rows a model may have no elements where torch has an error: it refuses to infer a size of nothing.
        return "computed" if size or got.size else None
    if got.shape != wanted.shape:
        return "wrong"
    is_equal = np.allclose(got, wanted, rtol=1e-3, atol=1e-4, equal_nan=True)
    return "equal" if is_equal or _is_rounded(got, wanted, module, arguments) else "wrong"


def _is_rounded(got: Any, wanted: Any, module: Any, arguments: tuple[Any, ...]) -> bool:
    """True if no element is farther from torch's than rounding explains.

    A sum of large numbers that cancel is rounded in proportion to them. What it depends on is in other elements, so the
    largest error of torch against its result in double counts, twice; one of a thousandth is of a comparison that
    rounding turned, and counts for nothing. Torch may also be exact by luck, as in the mean of equal rows, whose
    rounding a normalisation magnifies: what other roundings of the same operators move an element by counts, too.
    """
    with _in_double():
        exact = _computed(module, arguments)
        others = [_computed(module, arguments, _Rounding(number)) for number in range(_ROUNDINGS)]
    if exact is None or exact.shape != wanted.shape:
        return False
    is_finite = np.isfinite(wanted) & np.isfinite(exact)
    if not is_finite.any():
        return False
    error = float(np.abs(wanted - exact)[is_finite].max())
    if error > 1e-3 * float(np.abs(exact[is_finite]).max()):
        error = 0.0
    moved = [np.nan_to_num(np.abs(each - exact), nan=0.0) for each in others if each is not None]
    allowed = 1e-4 + 1e-3 * np.abs(wanted) + 2 * error + _SUMS * np.max(moved, axis=0)
    is_near = np.abs(got - wanted) <= allowed
    return bool((is_near | np.isclose(got, wanted, equal_nan=True)).all())


#: So many times a module is computed in double with the roundings of float32, each time others.
_ROUNDINGS = 8
#: A sum of rows is one operator, and is rounded once for each of them.
_SUMS = max(SIZES)


class _Rounding(TorchDispatchMode):
    """Rounds the result of every operator as float32 does, up or down by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return tree_map_only(torch.Tensor, self._rounded, func(*args, **(kwargs or {})))

    def _rounded(self, result: Any) -> Any:
        if result.dtype != torch.float64 or result._is_view():
            return result
        parts = torch.rand(result.shape, generator=self._draw, dtype=torch.float64) * 2 - 1
        return result * (1 + parts * torch.finfo(torch.float32).eps)


@contextlib.contextmanager
def _in_double() -> Generator[None]:
    """Tensors that a module makes are of float64."""
    kind = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(kind)


def _computed(module: Any, arguments: tuple[Any, ...], mode: TorchDispatchMode | None = None) -> Any:
    """The result of a module in double; None where it makes tensors of float32 itself."""
    with torch.no_grad(), mode or contextlib.nullcontext():
        try:
            return copy.deepcopy(module).double()(*[each.double() for each in arguments]).numpy()
        except RuntimeError:
            return None


def verdicts(seed: int) -> Iterator[Verdict]:
    """Modules drawn from a seed, each with both examples."""
    draw = random.Random(seed)
    names = _decks(draw)
    while True:
        label, use = drawn(draw, names)
        for example in EXAMPLES:
            if takes(use, example):
                yield judge(label, use, example)[0]


def uses() -> Iterator[tuple[str, int, Verdict, bool]]:
    """The sixty uses, each with both examples."""
    for (name, use), example in itertools.product(USES.items(), EXAMPLES):
        yield name, example, *judge(name, use, example)


LAW = Law("a model is right in every size that it takes, and tells of those that it does not", 600, verdicts)
