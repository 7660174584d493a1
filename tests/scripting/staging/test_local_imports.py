"""State that a function reaches through an import of its own is watched as that of its globals is."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith.errors import LastingChangeError


def module(x: FLOAT["N"]):
    import random

    return x * random.random()


def name_of_a_module(x: FLOAT["N"]):
    from random import random as draw

    return x * draw()


def part_of_a_package(x: FLOAT["N"]):
    import numpy

    return x * numpy.float32(numpy.random.rand())  # noqa: NPY002  # the state that is meant is the global one


def helper(x):
    import random

    return x * random.random()


def in_a_helper(x: FLOAT["N"]):
    return helper(x)


@pytest.mark.parametrize("function", [module, name_of_a_module, part_of_a_package, in_a_helper])
def test_random_numbers_are_not_baked_in(function) -> None:
    with pytest.raises(LastingChangeError, match="draws random numbers"):
        script(function)


def test_imports_without_state_work() -> None:
    @script
    def scaled(x: FLOAT["N"]):
        import math
        from collections import OrderedDict

        sizes = OrderedDict(root=math.sqrt(4.0))
        return x * sizes["root"]

    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(scaled(x), x * 2)
    np.testing.assert_array_equal(scaled.to_model()(x), x * 2)
