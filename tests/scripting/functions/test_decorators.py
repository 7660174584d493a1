"""Scripts in classes: methods, class methods and static methods, on every Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, opset18, script
from onnxsmith.errors import CallError, UnknownMethodError


class Scaled:
    """A class whose scripts read its attributes."""

    factor = 3.0

    @script
    @classmethod
    def of_the_class(cls, x: FLOAT["N"]):
        return x * cls.factor

    @staticmethod
    @script
    def of_nobody(x: FLOAT["N"]):
        return x * 2.0

    @script
    @staticmethod
    def of_nobody_inside(x: FLOAT["N"]):
        return x * 2.0

    @script
    def of_the_object(self, x: FLOAT["N"]):
        return x * self.factor


class ScaledMore(Scaled):
    """Another class with the same scripts."""

    factor = 5.0


X = np.float32([1, 2])


@pytest.mark.parametrize(
    "owner", [Scaled, Scaled(), ScaledMore, ScaledMore()], ids=["class", "object", "subclass", "its object"]
)
def test_a_class_method_knows_its_class(owner: type[Scaled] | Scaled) -> None:
    expected = X * owner.factor
    np.testing.assert_array_equal(owner.of_the_class(X), expected)
    np.testing.assert_array_equal(owner.of_the_class.to_model()(X), expected)


def doubled(x: FLOAT["N"]):
    return x + x


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"ir_version": 9}, lambda proto: proto.ir_version, 9),
        ({"producer_name": "acme"}, lambda proto: proto.producer_name, "acme"),
        ({"producer_version": "0.1"}, lambda proto: proto.producer_version, "0.1"),
        ({"opset": 18}, lambda proto: proto.opset_import[0].version, 18),
        ({"default_opset": opset18}, lambda proto: proto.opset_import[0].version, 18),
        ({"name": "twice"}, lambda proto: proto.graph.name, "twice"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_an_option_is_that_of_the_model(options: dict[str, Any], field: Any, value: Any) -> None:
    assert field(script(**options)(doubled).to_model_proto()) == value
    assert field(script(doubled).to_model_proto()) != value


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"domain": "mine"}, lambda proto: proto.domain, "mine"),
        ({"overload": "other"}, lambda proto: proto.overload, "other"),
        ({"name": "twice"}, lambda proto: proto.name, "twice"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_an_option_is_that_of_the_function(options: dict[str, Any], field: Any, value: Any) -> None:
    assert field(script(**options)(doubled).to_function_proto()) == value
    assert field(script(doubled).to_function_proto()) != value


def test_a_static_method_knows_nobody() -> None:
    np.testing.assert_array_equal(Scaled.of_nobody(X), X * 2)
    np.testing.assert_array_equal(Scaled().of_nobody.to_model()(X), X * 2)
    np.testing.assert_array_equal(Scaled.of_nobody_inside(X), X * 2)
    np.testing.assert_array_equal(Scaled().of_nobody_inside.to_model()(X), X * 2)


def test_the_model_of_a_method_needs_its_object() -> None:
    np.testing.assert_array_equal(ScaledMore().of_the_object.to_model()(X), X * 5)
    with pytest.raises(CallError, match="nobody says of which object"):
        Scaled.of_the_object.to_model()


@pytest.mark.parametrize("given", [3, 21, True])
def test_a_number_is_no_function(given: Any) -> None:
    with pytest.raises(CallError, match=r"is for Python functions, not (int|bool)") as caught:
        script(given)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    made = script(opset=21)(lambda x: x + x)
    np.testing.assert_array_equal(made(X), X * 2)


def test_the_object_of_a_method_is_named_self() -> None:
    with pytest.raises(UnknownMethodError, match=r"'this' is an input, a tensor; .* if that is named self"):

        class _Scaled:
            h = 2.0

            @script
            def scaled(this, x):  # the mistake
                return x * this.h

    with pytest.raises(UnknownMethodError) as caught:

        class _Plain:
            @staticmethod
            @script
            def relu(x: FLOAT["N"]):
                return x.relu()

    assert "self" not in str(caught.value.help)
