"""The classes that metadata may name: each is one of scikit-learn's, under its public name, and nothing else is."""

from __future__ import annotations

import importlib

import pytest

pytest.importorskip("sklearn")

from onnxsmith.sklearn.restoring.allowed import BY_ATTRIBUTES, BY_FITTING, class_of


@pytest.mark.parametrize("name", [*BY_ATTRIBUTES, *BY_FITTING])
def test_a_name_is_that_of_a_class(name: str) -> None:
    module, _, own = name.rpartition(".")
    assert class_of(name) is getattr(importlib.import_module(module), own)


def test_no_other_class_is_made() -> None:
    assert not BY_ATTRIBUTES.keys() & BY_FITTING.keys()
    for name in (
        "",
        "os.system",
        "sklearn.svm.SVC",
        "sklearn.svm",
        "LinearSVC",
        "sklearn.linear_model._base.LinearModel",
    ):
        assert class_of(name) is None
