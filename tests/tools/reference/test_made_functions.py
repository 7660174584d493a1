"""Every function that is made of a rule has its own sentence, and an example that gives what it says.

Here and not among the tests of arrays: what those name counts as held against numpy, which this is not.
"""

from __future__ import annotations

import doctest

import pytest

from onnxsmith.numpy.documentation import EXAMPLES, documented
from onnxsmith.numpy.registry import FUNCTIONS, UFUNCS

MADE = [*UFUNCS, *(name for name in FUNCTIONS if name.startswith(("special.", "fft.")))]
#: These have a `def`, and their docstring stands there.
WRITTEN = {"fft.fftfreq", "fft.rfftfreq", "fft.fftshift", "fft.ifftshift"}


def test_the_table_has_all_of_them() -> None:
    assert set(EXAMPLES) == set(MADE) - WRITTEN


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_gives_what_it_says(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    parsed = doctest.DocTestParser().get_doctest(documented(name), {}, name, None, None)
    assert runner.run(parsed).failed == 0


def test_help_shows_it() -> None:
    assert UFUNCS["add"].__doc__ == documented("add")
    assert (type(UFUNCS["add"]).__doc__ or "").startswith("One universal function")
