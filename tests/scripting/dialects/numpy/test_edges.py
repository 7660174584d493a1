"""At the edge of what numpy's functions take, a model raises an error where numpy does, and else gives the same."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scripting.dialects.numpy.edges import FORMS, Form, by_model, by_numpy, is_equal, model_of, names
from tests.scripting.dialects.numpy.known_edges import DIFFERS, GIVES, LEFT_OUT, REFUSES, SPREADING

#: How many forms of call are tried of each function, and how many calls of each form; more by hand.
_FORMS = int(os.environ.get("ONNXSMITH_EDGE_FORMS", "2"))
_CALLS = int(os.environ.get("ONNXSMITH_EDGE_CALLS", "20"))
_TOGETHER = 12
_NAMES = [each for each in names() if each not in LEFT_OUT]


def _loaded(forms: list[Form], folder: Path) -> list[Callable[..., Any]]:
    """The functions, from a file of their own: that is where their source is read."""
    path = folder / f"edges_of_{forms[0].label}.py"
    path.write_text("import numpy as np\n\n\n" + "\n\n".join(each.source for each in forms))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [getattr(module, each.label) for each in forms]


def _copied(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each.copy() if isinstance(each, np.ndarray) else each for each in given)


def verdict(expected: Any, found: Any) -> str | None:
    """What is wrong with what a model gave, or raised: None where nothing is."""
    if isinstance(expected, Exception):
        return None if isinstance(found, Exception) else "gives"
    if isinstance(found, Exception):
        return "refuses"
    return None if is_equal(found, expected) else "differs"


def is_known(name: str, what: str) -> bool:
    """Whether it is written down that a function differs so."""
    if what == "differs" and name.startswith(SPREADING):
        return True
    return name in {"gives": GIVES, "refuses": REFUSES, "differs": DIFFERS}[what]


def wrong_of(name: str, folder: Path) -> list[str]:
    """What a function does otherwise than numpy."""
    forms = [Form(name, each) for each in FORMS]
    random.Random(name).shuffle(forms)
    found: list[str] = []
    tried = 0
    for form, function in zip(forms, _loaded(forms, folder), strict=True):
        if tried == _FORMS:
            break
        calls = list(form.draws(_CALLS))
        expected = [by_numpy(function, _copied(each)) for each in calls]
        if all(isinstance(each, Exception) for each in expected):
            continue  # numpy takes nothing of this kind
        model = model_of(form, function)
        if isinstance(model, Exception):
            continue  # it is refused when the model is made
        tried += 1
        for given, wanted in zip(calls, expected, strict=True):
            made = by_model(model, given)
            what = verdict(wanted, made)
            if what is not None and not is_known(name, what):
                found.append(f"{what}: {form.label}{given}: {wanted!r} | {made!r}"[:400])
    return found


@pytest.mark.parametrize("first", range(0, len(_NAMES), _TOGETHER), ids=lambda first: _NAMES[first])
def test_both_raise_or_agree(first: int, tmp_path: Path):
    wrong = [each for name in _NAMES[first : first + _TOGETHER] for each in wrong_of(name, tmp_path)]
    assert not wrong, "\n".join(wrong)


def test_what_is_written_down_is_a_function_of_the_table():
    assert {*GIVES, *REFUSES, *DIFFERS} <= {*names()}
