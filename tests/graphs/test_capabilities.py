"""Methods that other packages give to `Model`: found by name, imported when used, seen by whoever looks."""

from __future__ import annotations

import ast
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, decompile, trace
from onnxsmith.graphs.capabilities import METHODS, OF_ESTIMATORS, PROPERTIES, Capability, with_capabilities

STUB = Path(onnxsmith.__file__).parent / "opset/_stubs/model.pyi"


def example() -> Model:
    return trace(lambda a: a + 1.0, FLOAT["N"])


@pytest.mark.parametrize("name", METHODS)
def test_an_entry_is_a_function_of_the_model(name: str) -> None:
    function = getattr(Model, name)
    assert inspect.isfunction(function)
    first = next(iter(inspect.signature(function).parameters.values()))
    assert first.name == "model"
    bound = getattr(example(), name)
    assert list(inspect.signature(bound).parameters) == list(inspect.signature(function).parameters)[1:]
    assert inspect.getdoc(bound)


# What only notebooks ask for begins with an underscore, and is not in the help.
@pytest.mark.parametrize("name", [each for each in METHODS if not each.startswith("_")])
def test_whoever_looks_at_the_class_sees_it(name: str) -> None:
    assert name in dir(Model)
    assert (name in dir(example())) == (name not in OF_ESTIMATORS)
    help_text = pydoc.plain(pydoc.render_doc(Model))
    assert f" {name}(" in help_text or name.startswith("_")  # `help` leaves out what others than people call
    assert "__getattr__" not in vars(Model)
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    stub = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Model")
    assert name in {each.name for each in stub.body if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_is_made_once_and_cannot_be_set(name: str) -> None:
    model = example()
    assert getattr(model, name) is getattr(model, name)
    with pytest.raises(AttributeError, match=f"'{name}' of a model cannot be set"):
        setattr(model, name, None)
    assert getattr(example(), name) is not getattr(model, name)


@pytest.mark.parametrize("name", PROPERTIES)
def test_whoever_looks_at_the_class_sees_the_property(name: str) -> None:
    assert name in dir(Model)
    first_line = str(inspect.getdoc(vars(Model)[name])).splitlines()[0]
    assert first_line in pydoc.plain(pydoc.render_doc(Model))
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    stub = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Model")
    found = next(each for each in stub.body if isinstance(each, ast.FunctionDef) and each.name == name)
    assert [ast.unparse(each) for each in found.decorator_list] == ["property"]


def test_it_is_called_with_the_model() -> None:
    model = example()
    assert model.decompile() == decompile(model)
    assert model.decompile(group=True) == decompile(model, group=True)


def test_nothing_is_imported_before_it_is_used() -> None:
    packages = sorted({place.partition(":")[0] for place in {**METHODS, **PROPERTIES}.values()})
    program = (
        "import sys; import onnxsmith.graphs.model; "
        f"print([each for each in {packages!r} if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_capability_cannot_hide_a_method() -> None:
    class Other:
        def decompile(self) -> None: ...

    with pytest.raises(TypeError, match="'decompile' already"):
        with_capabilities(Other)
    assert isinstance(vars(Model)["decompile"], Capability)
