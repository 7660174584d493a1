"""The cases: every operator of torch's test database, by element type, with its first samples.

Makes a case's module and its inputs. Exports nothing.
"""

from __future__ import annotations

import functools
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

FAMILIES = ("plain", "nn.functional", "fft", "masked", "linalg", "special")
DTYPES = ("float32", "int64", "bool")  # the scored run
OTHER_DTYPES = ("float16", "bfloat16", "float64", "int32", "uint8", "complex64")  # runs of their own
SAMPLES = 2


@dataclass(frozen=True)
class Case:
    """One sample of one operator at one element type."""

    operator: str  # with the variant, as torch's tests name it
    dtype: str
    sample: int
    #: Of how many that are spread over all samples it is one; 0 where samples are counted from the first.
    spread: int = 0

    def __str__(self) -> str:
        part = f"/{self.spread}" if self.spread else ""
        return f"{self.operator} {self.dtype} {self.sample}{part}"

    @staticmethod
    def parse(text: str) -> Case:
        operator, dtype, sample = text.split()
        number, _, spread = sample.partition("/")
        return Case(operator, dtype, int(number), int(spread or 0))

    @property
    def family(self) -> str:
        return family_of(operators()[self.operator].name)


def family_of(name: str) -> str:
    """The namespace of an operator; the few of small namespaces count as plain."""
    return next((family for family in FAMILIES if name.startswith(family + ".")), "plain")


@functools.cache
def operators() -> dict[str, Any]:
    """torch's operator database by name and variant. Takes seconds to load."""
    from torch.testing._internal import common_methods_invocations as database  # heavy

    # The database calls random operators through this, with a fixed seed: their results would look as if they
    # were not random. The run seeds them itself.
    database.wrapper_set_seed = lambda function, *args, **kwargs: function(*args, **kwargs)

    # Two names differ in capitals or underscores only; the number keeps them apart.
    found: dict[str, Any] = {}
    for operator in database.op_db:
        name = ".".join(filter(None, (operator.name, operator.variant_test_name))).replace(" ", "_")
        while name in found:
            name += "'"
        found[name] = operator
    return found


def all_cases(
    dtypes: Sequence[str] = DTYPES, samples: int = SAMPLES, *, is_spread: bool = False
) -> Iterator[Case]:
    """The cases there are, those too whose operator has fewer samples: that shows when one is made."""
    spread = samples if is_spread else 0
    for name, operator in operators().items():
        for dtype in dtypes:
            if getattr(torch, dtype) in operator.supported_dtypes("cpu"):
                yield from (Case(name, dtype, sample, spread) for sample in range(samples))


class NoSample(Exception):
    """The operator has fewer samples at this element type."""


class Call(torch.nn.Module):
    """The call of an operator; its tensors are the inputs, everything else is fixed."""

    def __init__(self, operator: Any, sample: Any) -> None:
        super().__init__()
        self.function = operator.op
        leaves, self.form = pytree.tree_flatten((sample.input, tuple(sample.args), dict(sample.kwargs)))
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def arguments(self, tensors: Sequence[torch.Tensor]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The operator's arguments with these tensors in their places."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        return pytree.tree_unflatten(leaves, self.form)

    def forward(self, *tensors: torch.Tensor) -> Any:
        first, args, kwargs = self.arguments(tensors)
        return self.function(first, *args, **kwargs)


def seed(number: int) -> None:
    """Seed every generator that samples and operators draw from."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 - the database draws from the global generator
    torch.manual_seed(number)


def make(case: Case) -> Call:
    """The module of a case, always with the same numbers; NoSample if there is none."""
    operator = operators()[case.operator]
    seed(zlib.crc32(f"{case.operator} {case.dtype}".encode()))
    samples = operator.sample_inputs("cpu", getattr(torch, case.dtype), requires_grad=False)
    wanted: int | None = case.sample
    if case.spread:
        samples = list(samples)
        wanted = spread_place(case.sample, case.spread, len(samples))
    for index, sample in enumerate(samples):
        if index == wanted:
            return Call(operator, sample)
    raise NoSample(str(case))


def spread_place(sample: int, spread: int, count: int) -> int | None:
    """Where one of so many samples stands that are spread over all, the first and the last among them; None if nowhere.

    >>> [spread_place(each, 4, 10) for each in range(4)]
    [0, 3, 6, 9]
    >>> [spread_place(each, 4, 3) for each in range(4)]
    [0, 1, 2, None]
    """
    if count <= spread:
        return sample if sample < count else None
    return sample * (count - 1) // max(spread - 1, 1)
