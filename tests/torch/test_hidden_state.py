"""State that no model has: modules that remember calls, or draw numbers of their own, are refused at their line."""

from __future__ import annotations

import itertools
import random
import types
from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from onnxsmith.errors import ExportError
from onnxsmith.torch import export

X = torch.tensor([0.5, -1.0, 2.0, 3.0])
CALLS = [0]


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Any) -> Any:
        self.count += 1
        return x * self.count


class Inside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Counting()

    def forward(self, x: Any) -> Any:
        return self.inner(x) + 1


class Keeping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(4)

    def forward(self, x: Any) -> Any:
        self.last = self.last + x
        return self.last


class Writing(Keeping):
    def forward(self, x: Any) -> Any:
        self.last.add_(x)
        return self.last * 1


class Appending(nn.Module):
    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.kept = kept

    def forward(self, x: Any) -> Any:
        self.kept.append(x)
        return torch.stack(list(self.kept)).sum(0)


class Collecting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def forward(self, x: Any) -> Any:
        self.seen.add(len(self.seen))
        return x * len(self.seen)


class InAnObject(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state = types.SimpleNamespace(count=0)

    def forward(self, x: Any) -> Any:
        self.state.count += 1
        return x * self.state.count


class OfTheClass(nn.Module):
    count = 0

    def forward(self, x: Any) -> Any:
        OfTheClass.count += 1
        return x * OfTheClass.count


class OfTheFile(nn.Module):
    def forward(self, x: Any) -> Any:
        CALLS[0] += 1
        return x * CALLS[0]


class FirstMean(nn.Module):
    """A cache of what depends on the first input."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, Any] = {}

    def forward(self, x: Any) -> Any:
        if "mean" not in self.cache:
            self.cache["mean"] = x.mean()
        return x - self.cache["mean"]


REMEMBERING = {
    "a number": (Counting, "self.count"),
    "a number in a module inside": (Inside, "self.inner.count"),
    "a tensor": (Keeping, "self.last"),
    "a tensor that is written to": (Writing, "self.last"),
    "a list": (lambda: Appending([]), "self.kept"),
    "a queue": (lambda: Appending(deque(maxlen=2)), "self.kept"),
    "a set": (Collecting, "self.seen"),
    "an attribute of an object": (InAnObject, "self.state"),
    "an attribute of the class": (OfTheClass, "OfTheClass.count"),
    "a global": (OfTheFile, "CALLS"),
    "what the first input gave": (FirstMean, "self.cache"),
}


@pytest.mark.parametrize("case", REMEMBERING)
@pytest.mark.parametrize("is_training", [False, True], ids=["in use", "in training"])
def test_a_module_that_remembers(case: str, is_training: bool) -> None:
    make, name = REMEMBERING[case]
    with pytest.raises(ExportError, match=f"it changes {name}, and a model has no memory") as caught:
        export(make().train(is_training), (X,))
    assert caught.value.labels[0].span.file == __file__


class Cached(nn.Module):
    """Counts, keeps and remembers what changes no result."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: dict[int, Any] = {}
        self.count = 0
        self.last: Any = None
        self.places = itertools.count()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: Any) -> Any:
        self.count += 1
        self.last = x
        random.random()
        np.random.rand()  # noqa: NPY002 - as a layer that is skipped in training alone draws
        if x.shape[0] not in self.masks:
            self.masks[x.shape[0]] = torch.arange(x.shape[0])
        self.total = self.total + x
        return x * self.masks[x.shape[0]]


def test_what_changes_no_result_is_no_matter() -> None:
    net, state = Cached().eval(), random.getstate()
    model = export(net, (X,))
    np.testing.assert_array_equal(model(X.numpy()), (X * torch.arange(4)).numpy())
    assert net.count == 0
    assert net.total.tolist() == [0, 0, 0, 0]
    assert "forward" not in vars(net)
    random.setstate(state)


class Lazy(nn.Module):
    def forward(self, x: Any) -> Any:
        if not hasattr(self, "mask"):
            self.mask = torch.ones_like(x)
        return x * self.mask


class Remembering(nn.Module):
    def forward(self, x: Any) -> Any:
        self.total = getattr(self, "total", 0.0) + x
        return self.total * 1


def test_attributes_that_forward_makes_do_not_stay() -> None:
    """torch leaves its own tensors in them, with which the module could not be called."""
    net = Lazy().eval()
    assert export(net, (X,))(X.numpy()).tolist() == X.tolist()
    assert not hasattr(net, "mask")
    assert net(X).tolist() == X.tolist()
    with pytest.raises(ExportError, match=r"it changes self\.total"):
        export(Remembering().eval(), (X,))


def seeded(x: Any) -> Any:
    torch.manual_seed(0)
    return x + torch.rand(4)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


DRAWING: dict[str, tuple[Any, str]] = {
    "seeded": (seeded, "the module seeds torch's generator"),
    "Python's": (lambda x: x * random.random(), "Python's random"),
    "numpy's": (lambda x: x * np.random.rand(), "numpy's random"),  # noqa: NPY002
    "rand": (lambda x: x + torch.rand(4, generator=generator()), "aten.rand.generator"),
    "randn": (lambda x: x + torch.randn(4, generator=generator()), "aten.randn.generator"),
    "randint": (lambda x: x + torch.randint(9, (4,), generator=generator()), "aten.randint.generator"),
    "randperm": (lambda x: x + torch.randperm(4, generator=generator()), "aten.randperm.generator"),
    "uniform_": (lambda x: x + torch.empty(4).uniform_(generator=generator()), "aten.uniform"),
    "bernoulli": (lambda x: torch.bernoulli(x.sigmoid(), generator=generator()), "aten.bernoulli"),
    "multinomial": (lambda x: torch.multinomial(x.softmax(0), 2, generator=generator()), "aten.multinomial"),
    "normal": (lambda x: x + torch.normal(0.0, 1.0, (4,), generator=generator()), "aten.normal"),
}


class Function(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize("case", DRAWING)
def test_numbers_that_a_model_would_draw_otherwise(case: str) -> None:
    function, text = DRAWING[case]
    with pytest.raises(ExportError, match=text) as caught:
        export(Function(function).eval(), (X,))
    assert caught.value.labels[0].span.file == __file__
    assert "register_buffer" in str(caught.value)


def test_numbers_of_torchs_own_generator_are_drawn() -> None:
    """Without a seed in `forward`, any numbers are as good as those of torch."""
    model = export(Function(lambda x: x + torch.rand(4)).eval(), (X,))
    assert not np.array_equal(model(X.numpy()), model(X.numpy()))
    seeds = Function(lambda x: x + torch.manual_seed(3).initial_seed()).eval()
    np.testing.assert_array_equal(export(seeds, (X,))(X.numpy()), X.numpy() + 3)
