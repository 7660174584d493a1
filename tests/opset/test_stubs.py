"""Every stub says what its schema says, every opset re-exports what it has, and the files are what is generated."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import onnxsmith
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout, python_name
from onnxsmith.schema.definition import Attribute, AttributeType, OperatorDef, Parameter
from onnxsmith.types.dtypes import DType
from tools import generate_stubs

PACKAGE = Path(onnxsmith.__file__).parent
STUBS = PACKAGE / "opset" / "_stubs"
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft")

SOURCES = dict(
    re.findall(r"(onnx\w*) ([\w.]+\w)", (STUBS / "opsets.pyi").read_text(encoding="utf-8").splitlines()[1])
)
for _name, _version in SOURCES.items():
    # Another onnx or onnxruntime has other operators; what is generated from it is not what is committed.
    if pytest.importorskip(_name).__version__ != _version:
        pytest.skip(f"the stubs were generated from {_name} {_version}", allow_module_level=True)


def identifier(domain: str) -> str:
    return domain.replace(".", "_")


def stub_module(op: OperatorDef) -> str:
    prefix = f"{identifier(op.domain)}_" if op.domain else ""
    return f"{prefix}v{op.since_version}"


@functools.cache
def functions(module: str) -> dict[str, list[ast.FunctionDef]]:
    """The overloads of each operator in a stub file."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse((STUBS / f"{module}.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


@functools.cache
def type_variables() -> dict[str, str]:
    """The bound of each type variable."""
    tree = ast.parse((STUBS / "variables.pyi").read_text(encoding="utf-8"))
    bounds: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            keywords = {each.arg: ast.unparse(each.value) for each in node.value.keywords}
            bounds[ast.unparse(node.targets[0])] = keywords.get("bound", "")
    return bounds


def operators(domain: str) -> Iterator[OperatorDef]:
    versions = range(1, registry.latest_version(domain) + 1)
    for name in sorted({name for version in versions for name in registry.names(domain, version)}):
        for since in registry.versions(domain, name):
            yield registry.lookup(domain, name, since)


# -- one operator ----------------------------------------------------------------------------------------


def check_inputs(op: OperatorDef, function: ast.FunctionDef) -> None:
    arguments = function.args
    named = [each.arg for each in arguments.args]
    variadic = op.inputs[-1] if op.inputs and op.inputs[-1].option == "variadic" else None
    fixed = op.inputs[:-1] if variadic else op.inputs
    assert named == [python_name(each.name) for each in fixed]
    if variadic is not None:
        assert arguments.vararg is not None
        assert arguments.vararg.arg == python_name(variadic.name)
        needs_one = variadic.min_arity > 0 and not fixed
        assert [each.arg for each in arguments.posonlyargs] == [f"{variadic.name}_0"] * needs_one
    else:
        assert arguments.vararg is None
        assert not arguments.posonlyargs
    # Without a default: those that must be there, up to the first that need not.
    required = next(
        (k for k, each in enumerate(fixed) if each.option == "optional" or k >= op.min_inputs), len(fixed)
    )
    assert len(named) - len(arguments.defaults) == required
    assert all(ast.unparse(each) == "None" for each in arguments.defaults)
    for argument in arguments.args[required:]:
        text = annotation(argument)
        assert text == "Any" or text.endswith(" | None"), argument.arg


def check_attributes(op: OperatorDef, function: ast.FunctionDef) -> None:
    arguments = function.args
    defaults = {
        each.arg: None if value is None else ast.literal_eval(value)
        for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    has_default = {
        each.arg: value is not None
        for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    annotations = {each.arg: annotation(each) for each in arguments.kwonlyargs}
    names = layout(op).attribute_names
    assert set(annotations) - {"outputs"} == set(names)
    for name, attribute in names.items():
        text = annotations[name]
        if attribute.names_dtype and "DTypeLike" not in text:
            continue  # an overload in which the attribute decides the type of the result
        assert has_default[name] != attribute.is_required, (op, name)
        assert defaults[name] == attribute.default, (op, name)
        check_attribute_type(attribute, text)


def check_attribute_type(attribute: Attribute, text: str) -> None:
    if attribute.choices is not None:
        match = re.search(r"Literal\[(.*?)\]", text)
        assert match
        assert ast.literal_eval(f"({match[1]},)") == attribute.choices
        assert text.startswith("Sequence[") == (attribute.type is AttributeType.STRINGS)
        return
    words = {
        AttributeType.FLOAT: "Float",
        AttributeType.INT: "DTypeLike" if attribute.names_dtype else "Int",
        AttributeType.STRING: "str",
        AttributeType.TENSOR: "TensorValue",
        AttributeType.GRAPH: "Body",
        AttributeType.FLOATS: "Floats",
        AttributeType.INTS: "Ints",
        AttributeType.STRINGS: "Sequence[str]",
        AttributeType.SPARSE_TENSOR: "Proto",
        AttributeType.TYPE_PROTO: "TypeValue",
    }
    assert text.removesuffix(" | None") == words[attribute.type]
    assert text.endswith(" | None") == (not attribute.is_required and attribute.default is None)


def check_classes(op: OperatorDef, overloads: list[ast.FunctionDef]) -> None:
    """Of the overloads, those that take tensors name exactly the element types that the schema allows."""
    for position, parameter in enumerate(op.inputs):
        if not parameter.is_homogeneous or any(not each.startswith("tensor(") for each in parameter.types):
            continue
        allowed = {dtype.name for dtype in map(tensor_dtype, parameter.types)}
        named = {
            frozenset(classes) for each in overloads if (classes := tensor_classes(parameter, each, position))
        }
        assert named == {frozenset(allowed)}, (op, parameter.name)


def tensor_dtype(text: str) -> DType:
    dtype = DType.from_onnx_name(text.removeprefix("tensor(").removesuffix(")"))
    assert dtype is not None
    return dtype


def tensor_classes(parameter: Parameter, function: ast.FunctionDef, position: int) -> set[str]:
    arguments = function.args
    argument = arguments.vararg if parameter.option == "variadic" else arguments.args[position]
    assert argument is not None
    match = re.match(r"(?:TensorOf|TensorIndices|TensorOrArray|Indices)\[(\w+), \w+\]", annotation(argument))
    if match is None:
        return set()
    return set((type_variables().get(match[1]) or match[1]).split(" | "))


def check_outputs(op: OperatorDef, function: ast.FunctionDef) -> None:
    assert function.returns is not None
    text = ast.unparse(function.returns)
    if not op.outputs or any(each.option == "variadic" for each in op.outputs):
        assert text == "AnyTensor" or re.fullmatch(r"tuple\[\w+, \.\.\.\]", text), op
        return
    asked = [each for each in function.args.kwonlyargs if each.arg == "outputs"]
    single = max(1, sum(each.option == "single" for each in op.outputs))
    count = int(re.findall(r"\d+", annotation(asked[0]))[0]) if asked else single
    assert single <= count <= len(op.outputs)
    elements = function.returns.slice.elts if count > 1 else [function.returns]  # type: ignore[attr-defined]
    assert len(elements) == count, op
    for output, element in zip(op.outputs, elements, strict=False):
        shown = ast.unparse(element)
        if shown in DType.__members__ and len(output.types) == 1:
            assert output.types == {f"tensor({DType[shown].onnx_name})"}


def annotation(argument: ast.arg) -> str:
    assert argument.annotation is not None
    return ast.unparse(argument.annotation)


@pytest.mark.parametrize("domain", DOMAINS)
def test_stubs_say_what_the_schemas_say(domain: str) -> None:
    for op in operators(domain):
        overloads = functions(stub_module(op))[op.name]
        for function in overloads:
            check_inputs(op, function)
            check_attributes(op, function)
            check_outputs(op, function)
        check_classes(op, overloads)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_output_count_can_be_asked_for(domain: str) -> None:
    for op in operators(domain):
        if any(each.option == "variadic" for each in op.outputs) or not op.outputs:
            continue
        single = max(1, sum(each.option == "single" for each in op.outputs))
        wanted = set(range(single, len(op.outputs) + 1))
        texts = [ast.unparse(each.args) for each in functions(stub_module(op))[op.name]]
        asked = {int(number) for text in texts for number in re.findall(r"outputs: Literal\[(\d+)\]", text)}
        assert asked == (wanted if len(wanted) > 1 else set()), op


def test_stubs_hold_nothing_else() -> None:
    known = {(stub_module(op), op.name) for domain in DOMAINS for op in operators(domain)}
    files = [file.stem for file in STUBS.glob("*v[0-9]*.pyi")]
    assert {(file, name) for file in files for name in functions(file)} == known


# -- what an editor shows --------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_operator_is_documented(domain: str) -> None:
    for op in operators(domain):
        text = ast.get_docstring(functions(stub_module(op))[op.name][0]) or ""
        summary, _, rest = text.partition("\n\n")
        assert len(summary) > 2, op
        assert f"Version {op.since_version}, in opset" in rest, op
        assert re.search(rf"^https://\S+{op.name}(\.html)?$", rest, re.MULTILINE), op
        assert not re.search(r"</?(br|b|i|p|li|ul)\b", text), op
        for version in registry.versions(op.domain, op.name):
            assert re.search(rf"\b{version}\b", rest), op


# -- the modules -----------------------------------------------------------------------------------------


def opsets() -> list[tuple[str, int]]:
    return [
        (domain, version) for domain in DOMAINS for version in range(1, registry.latest_version(domain) + 1)
    ]


@pytest.mark.parametrize(("domain", "version"), opsets())
def test_modules_have_the_operators_of_their_opset(domain: str, version: int) -> None:
    name = f"opset{'_' + identifier(domain) if domain else ''}{version}"
    exported: dict[str, str] = {}
    for node in ast.parse((PACKAGE / f"{name}.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and "_stubs" in (node.module or ""):
            assert all(each.asname == each.name for each in node.names)
            exported.update({each.name: str(node.module).rpartition(".")[2] for each in node.names})
    expected = {
        each: stub_module(registry.lookup(domain, each, version)) for each in registry.names(domain, version)
    }
    assert exported == expected
    module: Any = importlib.import_module(f"onnxsmith.{name}")
    assert (module.domain, module.version) == (domain, version)
    assert getattr(onnxsmith, name) is module
    assert set(expected) <= set(dir(module))


def test_the_package_exports_every_opset() -> None:
    text = (STUBS / "opsets.pyi").read_text(encoding="utf-8")
    names = re.findall(r"^from onnxsmith import (\w+) as \1$", text, re.MULTILINE)
    assert len(names) == len(opsets())


def test_the_tensor_classes_are_the_element_types() -> None:
    tree = ast.parse((STUBS / "tensors.pyi").read_text(encoding="utf-8"))
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    assert {dtype.name for dtype in DType} <= classes


def test_what_checkers_see_is_what_there_is() -> None:
    """The public names in `__init__.pyi` are those of the package."""
    tree = ast.parse(Path(onnxsmith.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {
                each.asname for each in node.names if each.asname == each.name and each.asname is not None
            }
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    # Modules of their own, which checkers read for whoever imports them: one imports every opset, one onnx-ir.
    names |= {"onnx_opset", "rewriter"}
    public = {name for name in names if not name.startswith("_")}
    # Two modules are named as packages that users import, which `from onnxsmith import *` must not hide.
    assert public == {*onnxsmith.__all__, "sklearn", "torch"}
    assert public <= set(dir(onnxsmith))
    assert {"sklearn", "torch"}.isdisjoint(onnxsmith.__all__)


def test_the_files_are_what_is_generated(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_stubs.main(["--check"]) == 0, capsys.readouterr().out
