"""What the suite calls right and wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.torch.opinfo.checks import CHECKS
from tests.torch.opinfo.comparing import Wrong, compare

VALUES = torch.tensor([3.0, 1.0, 3.0])
MATRIX = torch.tensor([[2.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.00001, float("nan")])),
        (torch.tensor([[1.0, 2.0]]), torch.tensor([1 + 2j])),
        (torch.tensor(7), 7),
        (torch.tensor(True), True),
    ],
)
def test_equal_outputs_pass(found: torch.Tensor, expected: Any) -> None:
    compare([found], [expected])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (torch.tensor([1.0]), torch.tensor([1.001])),
        (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64)),
        (torch.tensor([1.0]), torch.tensor([[1.0]])),
        (torch.tensor([0.0]), torch.tensor([float("nan")])),
        (torch.tensor([2]), torch.tensor([3])),
    ],
)
def test_other_numbers_types_and_shapes_are_wrong(found: torch.Tensor, expected: Any) -> None:
    with pytest.raises(Wrong):
        compare([found], [expected])


def test_random_outputs_are_compared_by_their_form() -> None:
    compare([torch.zeros(3)], [torch.ones(3)], only_form=True)
    with pytest.raises(Wrong, match="shape"):
        compare([torch.zeros(2)], [torch.ones(3)], only_form=True)


def test_a_result_as_near_to_the_truth_as_torchs_passes() -> None:
    truth = torch.tensor([1.0], dtype=torch.float64)
    compare([torch.tensor([0.999])], [torch.tensor([1.001])], precise=lambda: [truth])
    with pytest.raises(Wrong):
        compare([torch.tensor([0.9])], [torch.tensor([1.001])], precise=lambda: [truth])


def _check(name: str, a: torch.Tensor, found: Any, expected: Any, **kwargs: Any) -> None:
    CHECKS[name](a, (), kwargs, list(found), list(expected))


def test_equal_values_may_be_sorted_in_any_order() -> None:
    expected = torch.sort(VALUES)
    other = torch.tensor([1, 2, 0])
    assert not torch.equal(expected.indices, other)
    _check("sort", VALUES, (expected.values, other), expected)
    with pytest.raises(Wrong, match="stable"):
        _check("sort", VALUES, (expected.values, other), expected, stable=True)
    with pytest.raises(Wrong):
        _check("sort", VALUES, (expected.values, torch.tensor([0, 1, 2])), expected)


@pytest.mark.parametrize("name", ["linalg.qr", "linalg.svd", "linalg.eigh"])
def test_factors_may_have_other_signs_but_must_give_the_matrix(name: str) -> None:
    expected = getattr(torch.linalg, name.removeprefix("linalg."))(MATRIX)
    turned = [-part if part.dim() == 2 else part for part in expected]
    _check(name, MATRIX, turned, expected)
    with pytest.raises(Wrong):
        _check(name, MATRIX, [part * 1.1 for part in expected], expected)


def test_eigenvalues_may_come_in_any_order() -> None:
    values, vectors = torch.linalg.eig(torch.tensor([[0.0, 1.0], [-2.0, -3.0]]))
    found = [torch.view_as_real(values.flip(0)), torch.view_as_real(vectors.flip(1))]
    _check("linalg.eig", torch.tensor([[0.0, 1.0], [-2.0, -3.0]]), found, (values, vectors))
    with pytest.raises(Wrong):
        _check(
            "linalg.eig",
            torch.tensor([[0.0, 1.0], [-2.0, -3.0]]),
            [found[0] + 1, found[1]],
            (values, vectors),
        )
