"""Which files there are and what stands in each, as text; writing them is the command's business."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from tools.stubs.arrays import PARTS, array_stub, part_stub
from tools.stubs.documentation import docstring
from tools.stubs.script_calls import script_calls
from tools.stubs.signatures import Overload, overloads
from tools.stubs.surface import HEADER, Surface, defined, exported, hand_on, write
from tools.stubs.type_variables import TypeVariables

#: The domains that get modules; what is beyond them is reached through `Opset`.
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft")

PACKAGE = PurePosixPath("src/onnxsmith")
STUBS = PACKAGE / "opset/_stubs"

_MYPY = '# mypy: disable-error-code="overload-overlap, misc"\n'
_PYRIGHT = "# pyright: reportOverlappingOverload=false\n"
_PACKAGE = "onnxsmith.opset._stubs"
_LINE_WIDTH = 118

_FROM_TYPING = ("Any", "Literal", "overload")
_FROM_TENSORS = (
    *(
        "AnyTensor",
        "ArrayOrNumber",
        "Body",
        "DTypeLike",
        "Float",
        "Floats",
        "Indices",
        "Int",
        "Ints",
    ),
    *("NumberOrList", "NumpyArray", "Proto", "TensorIndices", "TensorOf", "TensorOrArray"),
    *("TensorValue", "Tensors", "TypeValue"),
    *(dtype.name for dtype in DType),
)


@dataclass(frozen=True)
class Opset:
    """A version of a domain, and the module that stands for it."""

    domain: str
    version: int

    @property
    def module(self) -> str:
        """`opset21`, `opset_ai_onnx_ml5`."""
        return f"opset{_identifier(self.domain, '_')}{self.version}"

    @property
    def title(self) -> str:
        """How it is called in prose."""
        return f"{self.domain or 'ai.onnx'}, version {self.version}"


def _identifier(domain: str, prefix: str) -> str:
    return prefix + domain.replace(".", "_") if domain else ""


def opsets() -> list[Opset]:
    """Every opset that gets a module."""
    return [
        Opset(domain, version)
        for domain in DOMAINS
        for version in range(1, registry.latest_version(domain) + 1)
        if registry.names(domain, version)
    ]


def surfaces() -> dict[PurePosixPath, str]:
    """The stubs of public modules and classes that checkers see without what is behind them."""
    files: dict[PurePosixPath, str] = {}
    for name, title, names in (
        (
            "model",
            "`Model`",
            [
                ("onnxsmith.graphs.model_inputs", "Port"),
                ("onnxsmith.graphs.model", "Model"),
                ("onnxsmith.graphs.model", "load"),
                ("onnxsmith.diffing", "diff"),
                ("onnxsmith.passes.optimizing", "optimize"),
                ("onnxsmith.passes.outlining.outlining", "outline"),
                ("onnxsmith.passes.rules", "Rule"),
                ("onnxsmith.passes.rules", "either"),
                ("onnxsmith.passes.rules", "explain_match"),
                ("onnxsmith.passes.rules", "rewrite"),
                ("onnxsmith.passes.surgery", "compose"),
                ("onnxsmith.passes.versions", "convert_version"),
            ],
        ),
        (
            "decompiling",
            "the decompiler, and of where weights may lie",
            [
                ("onnxsmith.decompiling", "decompile"),
                ("onnxsmith.decompiling", "decompile_to"),
                ("onnxsmith.decompiling.recompiling", "recompile"),
                ("onnxsmith.graphs.external_data", "data_root"),
                ("onnxsmith.migration", "export_onnx_lib"),
                ("onnxsmith.migration", "proto2python"),
            ],
        ),
        ("comparing", "comparisons of two runs", exported("onnxsmith.comparing")),
        ("torch", "`onnxsmith.torch`, without anything of PyTorch", exported("onnxsmith.torch")),
        ("runtime", "`onnxsmith.runtime`", exported("onnxsmith.runtime")),
        ("grad", "`onnxsmith.grad`", exported("onnxsmith.grad")),
        ("training", "`onnxsmith.training`", exported("onnxsmith.training")),
        ("sklearn", "`onnxsmith.sklearn`", exported("onnxsmith.sklearn")),
    ):
        surface = Surface(f"What type checkers see of {title}.", tuple(names))
        files[STUBS / f"{name}.pyi"] = write(surface)
        if name in ("torch", "runtime", "grad", "training", "sklearn"):
            files[PACKAGE / name / "__init__.pyi"] = hand_on(f"{_PACKAGE}.{name}", surface)
    evaluators = Surface("What type checkers see of `onnxsmith.evaluator`.", defined("onnxsmith.evaluator"))
    files[PACKAGE / "evaluator.pyi"] = write(evaluators)
    files[PACKAGE / "numpy/__init__.pyi"] = array_stub(HEADER)
    for part in PARTS:
        files[PACKAGE / f"numpy/{part}.pyi"] = part_stub(HEADER, part)
    return files


def generate() -> dict[PurePosixPath, str]:
    """All generated files, by their path in the repository."""
    files: dict[PurePosixPath, str] = {}
    variables = TypeVariables()
    for domain in DOMAINS:
        for since, operators in _by_version(domain).items():
            files[STUBS / f"{_stub_module(domain, since)}.pyi"] = _operators_file(operators, variables)
    files[STUBS / "variables.pyi"] = _variables_file(variables)
    for opset in opsets():
        files[PACKAGE / f"{opset.module}.py"] = _runtime_file(opset)
        files[PACKAGE / f"{opset.module}.pyi"] = _opset_file(opset)
    files[STUBS / "opsets.pyi"] = _opsets_file()
    files[STUBS / "script_calls.pyi"] = HEADER + script_calls()
    files.update(surfaces())
    return files


def _stub_module(domain: str, since: int) -> str:
    return f"{_identifier(domain, '') + '_' if domain else ''}v{since}"


def _by_version(domain: str) -> dict[int, list[OperatorDef]]:
    """The operators of a domain by the version that brought or changed them, in a fixed order."""
    found: dict[int, list[OperatorDef]] = {}
    versions = range(1, registry.latest_version(domain) + 1)
    for name in sorted({name for version in versions for name in registry.names(domain, version)}):
        for since in registry.versions(domain, name):
            op = registry.lookup(domain, name, since)
            found.setdefault(since, []).append(op)
    return dict(sorted(found.items()))


# -- one file each ---------------------------------------------------------------------------------------


def _operators_file(operators: list[OperatorDef], variables: TypeVariables) -> str:
    signatures = [(op, overloads(op, variables)) for op in operators]
    hidden = {op.name for op in operators} & {*_FROM_TENSORS, *_FROM_TYPING}
    assert not hidden, f"an operator hides a name that its file imports: {hidden}"
    used = set(re.findall(r"\w+", " ".join(_words(signatures))))
    typing = [
        name for name in _FROM_TYPING if name in used or (name == "overload" and _has_overloads(signatures))
    ]
    lines = [HEADER, _MYPY, _PYRIGHT]
    if "Sequence" in used:
        lines.append("from collections.abc import Sequence\n")
    lines.append(_import("typing", typing))
    lines.append(_import(f"{_PACKAGE}.tensors", [name for name in _FROM_TENSORS if name in used]))
    lines.append(_import(f"{_PACKAGE}.variables", sorted(used & {"TValue", *variables.names()})))
    return "".join(lines) + "\n" + "\n".join(_function(op, each) for op, each in signatures)


def _words(signatures: Iterable[tuple[OperatorDef, list[Overload]]]) -> Iterable[str]:
    for _, each in signatures:
        for overload in each:
            yield overload.returns
            # The annotation alone: a parameter may be named like a type.
            yield from (parameter.partition(": ")[2] for parameter in overload.parameters)


def _has_overloads(signatures: Iterable[tuple[OperatorDef, list[Overload]]]) -> bool:
    return any(len(each) > 1 for _, each in signatures)


def _import(module: str, names: list[str]) -> str:
    if not names:
        return ""
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= _LINE_WIDTH:
        return line
    # Spaces inside "Relu as Relu" must not be where a line ends.
    glued = ", ".join(name.replace(" ", "\0") for name in names)
    body = textwrap.fill(glued, _LINE_WIDTH, initial_indent="    ", subsequent_indent="    ").replace(
        "\0", " "
    )
    return f"from {module} import (\n{body},\n)\n"


def _function(op: OperatorDef, signatures: list[Overload]) -> str:
    # Editors show the documentation of the first overload for all of them.
    lines: list[str] = []
    for position, overload in enumerate(signatures):
        if len(signatures) > 1:
            lines.append("@overload")
        head = f"def {op.name}({', '.join(overload.parameters)}) -> {overload.returns}:"
        if position:
            lines.append(f"{head} ...")
        else:
            lines += [head, _quoted(docstring(op))]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    prefix = "r" if "\\" in text else ""
    text = text.replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    return textwrap.indent(f'{prefix}"""{text}\n"""', "    ")


def _variables_file(variables: TypeVariables) -> str:
    lines = [
        HEADER,
        '"""Type variables of the operators\' signatures: of tensors, and of the literals that they meet."""\n\n',
        "from typing_extensions import TypeVar\n\n",
        _import(f"{_PACKAGE}.tensors", ["AnyTensor", *(dtype.name for dtype in DType)]),
        '\nTValue = TypeVar("TValue")\n',
    ]
    return "".join(lines) + "".join(f"{line}\n" for line in variables.declarations())


def _runtime_file(opset: Opset) -> str:
    return (
        f'{HEADER}"""The operators of {opset.title}, each made when it is first used."""\n\n'
        "from onnxsmith.opset.module import opset_module\n\n"
        f"domain, version = {opset.domain!r}, {opset.version}\n".replace("'", '"')
        + "__getattr__, __dir__ = opset_module(__name__, domain, version)\n"
    )


def _opset_file(opset: Opset) -> str:
    groups: dict[int, list[str]] = {}
    for name in registry.names(opset.domain, opset.version):
        groups.setdefault(registry.lookup(opset.domain, name, opset.version).since_version, []).append(name)
    lines = [
        HEADER,
        f'"""The operators of {opset.title}."""\n\nfrom typing import Final\n\n',
        *(
            _import(
                f"{_PACKAGE}.{_stub_module(opset.domain, since)}", [f"{name} as {name}" for name in names]
            )
            for since, names in sorted(groups.items())
        ),
        f'\ndomain: Final = "{opset.domain}"\nversion: Final = {opset.version}\n',
    ]
    return "".join(lines)


def _opsets_file() -> str:
    # Said here, so that whoever has other versions knows why `--check` finds differences.
    sources = ", ".join(
        f"{name} {importlib.import_module(name).__version__}" for name in ("onnx", "onnxruntime")
    )
    imports = "".join(f"from onnxsmith import {each.module} as {each.module}\n" for each in opsets())
    return f'{HEADER}# From {sources}.\n"""All opsets, for `onnxsmith.onnx_opset`."""\n\n{imports}'
