"""The example of an operator: a program that calls it on the data of one of ONNX's own node cases, and what it gave.

The program is run here, as it stands on the page, and its result is compared with the data of the case.
"""

from __future__ import annotations

import functools
import importlib.util
import keyword
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import onnxsmith
from onnxsmith.runtime import using
from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.registry import default_opset_version
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import all_cases, as_value, attribute_value, check_equal
from tests.backend.own_cases import OWN_CASES, OwnCase
from tools.reference.literals import element_count, literal, needed_modules

#: A node case, as onnx has it: a class of its test tools without a type.
Case = Any

ROOT = Path(__file__).resolve().parents[2]
_KNOWN: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (ROOT / "tests/backend/known_unrunnable.toml").read_text()
)
#: An example that takes more than this is data, not reading: the program takes it from onnx.
_LONGEST_DATA = 1500
#: Cases that show an edge, or a narrow type, rather than what the operator is for.
_EDGE = re.compile(
    r"empty|zero|scalar|one_input|length_1|_old|unchanged|int\d|fp16|float16|bf16|e\dm\d|float4|_opt\b|degenerate"
    r"|infinity|nan|string_broadcast|reordered|reduce_by_one|export_monday_empty|negative|types_|no_input"
    r"|same_values|inbounds|_default_old|min_greater"
)
_TOLERANCE = 1e-5


class WrongExample(AssertionError):
    """The program of an example failed, or gave another result than the case says."""


@dataclass(frozen=True, slots=True)
class Example:
    """A program, what its last line shows, and where its data is from."""

    program: str
    output: str
    source: str
    #: Whether onnx's reference evaluator gives the same.
    runs_on_reference: bool


@functools.cache
def _cases_of() -> Mapping[tuple[str, str], Sequence[Case]]:
    """The cases of each operator: of one node, or of several for an operator that is never alone."""
    found: dict[tuple[str, str], list[Case]] = defaultdict(list)
    among: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for name, case in all_cases().items():
        if name.endswith("_expanded") or not (name not in _KNOWN or _is_random(name) or _is_installed(name)):
            continue
        nodes = case.model.graph.node
        for node in nodes:
            domain = "" if node.domain == "ai.onnx" else node.domain
            (found if len(nodes) == 1 else among)[domain, node.op_type].append(case)
    return {**among, **found}


def _is_random(name: str) -> bool:
    return _KNOWN.get(name, {}).get("reason", "").startswith("random")


def _is_installed(name: str) -> bool:
    """Whether a case needs a module that there is."""
    return importlib.util.find_spec(_KNOWN[name].get("installed", "no_such_module")) is not None


def example_of(definition: OperatorDef) -> Example | None:
    """The example of an operator; None where neither onnx nor the tests of this project have a case."""
    problems: list[str] = []
    for case in _by_fitness(definition):
        try:
            return _from_node_case(definition, case)
        except Exception as error:  # whatever a case raises, another one may do
            problems.append(f"{case.name}: {type(error).__name__}: {error}")
    for own in OWN_CASES:
        if (own.domain, own.name) == (definition.domain, definition.name) and (
            definition.since_version in own.versions
        ):
            return _from_own_case(definition, own)
    if problems:
        raise WrongExample(f"no node case of {definition.qualified_name} runs:\n" + "\n".join(problems[:3]))
    return None


def _by_fitness(definition: OperatorDef) -> list[Case]:
    """The cases of a definition: those that fit on a page and show no edge first."""
    known = _cases_of().get((definition.domain, definition.name), ())
    newest = [case for case in known if _definition_of(case, definition) is definition]
    return sorted(newest or known, key=_burden)[:8]


def _definition_of(case: Case, definition: OperatorDef) -> OperatorDef | None:
    return registry.find(definition.domain, definition.name, _opset(case, definition.domain))


def _opset(case: Case, domain: str) -> int:
    versions = {
        "" if each.domain == "ai.onnx" else each.domain: each.version for each in case.model.opset_import
    }
    return versions[domain]


def _burden(case: Case) -> tuple[int, int]:
    inputs, outputs = case.data_sets[0]
    data = sum(len(literal(as_value(each))) for each in inputs)
    shown = sum(element_count(as_value(each)) for each in outputs)
    is_edge = bool(_EDGE.search(case.name)) + (shown < 2)
    is_long = data > _LONGEST_DATA
    return 2 * is_long + is_edge, data + 10 * len(case.model.graph.node[0].attribute)


# ---- from a node case ----


def _from_node_case(definition: OperatorDef, case: Case) -> Example:
    inputs, expected = case.data_sets[0]
    names = [_identifier(each.name) for each in case.model.graph.input]
    values = [as_value(each) for each in inputs]
    node = case.model.graph.node[0]
    own = _definition_of(case, definition)
    if own is not None and own.since_version <= definition.since_version:
        definition = own  # one of a newer opset may do in this one: the results are compared
    attributes = {each.name: attribute_value(each) for each in node.attribute}
    has_graphs = any(isinstance(each, onnx.GraphProto) for each in attributes.values())
    if has_graphs or len(case.model.graph.node) > 1:
        program = _script_of(case, names, values)
    else:
        passed = [_identifier(name) if name else "None" for name in node.input]
        targets = [_identifier(name) if name else "_" for name in node.output]
        call = _call(definition, passed, attributes, targets)
        program = _program(definition, _data(definition, case, names, values), call)
    results = [as_value(each) for each in expected]
    output = _run(program, results, (case.rtol, case.atol), only_form=_is_random(case.name))
    check = functools.partial(_run, program, results, (case.rtol, case.atol), only_form=_is_random(case.name))
    return Example(
        program, output, f"The data is that of ONNX's node case `{case.name}`.", _on_reference(check)
    )


def _data(definition: OperatorDef, case: Case, names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """The lines that make the inputs."""
    lines = [f"{name} = {literal(value)}" for name, value in zip(names, values, strict=True)]
    if sum(map(len, lines)) <= _LONGEST_DATA:
        return lines
    targets = names[0] + "," if len(names) == 1 else ", ".join(names)
    return [
        "from onnx.backend.test.case.node import collect_testcases  # ONNX's own data",
        "",
        f'cases = {{case.name: case for case in collect_testcases("{definition.name}")}}',
        f'{targets} = cases["{case.name}"].data_sets[0][0]',
    ]


def _script_of(case: Case, names: Sequence[str], values: Sequence[Any]) -> str:
    """A node with graphs inside, as the script that it is decompiled to."""
    module = onnxsmith.decompile(case.model)
    functions = re.findall(r"^def (\w+)\(", module, re.MULTILINE)
    if not functions:
        raise WrongExample(f"{case.name} is decompiled to no script")
    body = re.sub(r'\A""".*?"""\n+', "", module, flags=re.DOTALL)
    body = re.sub(r"^model = .*\Z", "", body, flags=re.MULTILINE | re.DOTALL).strip()
    body = body.replace(", rebuild, ", ", ").replace(", rebuild\n", "\n")
    data = "\n".join(f"{name} = {literal(value)}" for name, value in zip(names, values, strict=True))
    modules = "".join(
        f"import {each}\n" if each == "ml_dtypes" else "" for each in needed_modules(iter([data]))
    )
    if "import numpy as np" not in body and "np." in data:
        modules += "import numpy as np\n"
    return f"{modules}{body}\n\n\n{data}\n{functions[-1]}({', '.join(names)})"


# ---- from a case of this project ----


def _from_own_case(definition: OperatorDef, own: OwnCase) -> Example:
    names = [_identifier(each.name) for each in definition.inputs]
    if len(own.inputs) > len(names) or any(each.option == "variadic" for each in definition.inputs):
        names = [f"x{position + 1}" for position in range(len(own.inputs))]
    lines = [f"{name} = {literal(value)}" for name, value in zip(names, own.inputs, strict=False)]
    targets = [f"y{position + 1}" for position in range(len(own.expected))]
    call = _call(definition, names[: len(own.inputs)], own.attributes, targets)
    program = _program(definition, lines, call)
    only_form = any(isinstance(each, tuple) and isinstance(each[0], DType) for each in own.expected)
    expected = [
        np.empty(each[1], each[0].numpy) if isinstance(each, tuple) else each for each in own.expected
    ]
    output = _run(program, expected, (_TOLERANCE, _TOLERANCE), only_form=only_form)
    check = functools.partial(_run, program, expected, (_TOLERANCE, _TOLERANCE), only_form=only_form)
    about = "ONNX has no node case of this version; the data is this project's own."
    return Example(program, output, about, _on_reference(check))


def _on_reference(check: Callable[[], str]) -> bool:
    """Whether the same program gives the same on the reference evaluator."""
    try:
        with using(runtime="reference"):
            check()
    except Exception:  # whatever it is, it does not run there
        return False
    return True


# ---- programs ----


def module_of(domain: str, version: int) -> str:
    """The name of an opset's module: `opset21`, `opset_ai_onnx_ml5`."""
    return f"opset{version}" if not domain else f"opset_{domain.replace('.', '_')}{version}"


def version_for(definition: OperatorDef) -> int:
    """The newest version of the domain that has this definition; of ONNX's own, one that ONNX Runtime loads, if any.

    What a reader saves should load where it is run. A definition that is newer than the runtime is shown in the opset
    that brought it.
    """
    since, until = registry.valid_range(definition)
    newest = registry.latest_version(definition.domain) if until is None else until - 1
    return newest if definition.domain else max(since, min(newest, default_opset_version()))


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name) or "x"
    return plain + "_" if keyword.iskeyword(plain) or plain in ("op", "np") or plain[0].isdigit() else plain


def _call(
    definition: OperatorDef, passed: Sequence[str], attributes: Mapping[str, Any], targets: Sequence[str]
) -> list[str]:
    words = [*passed, *(f"{_identifier(name)}={literal(value)}" for name, value in attributes.items())]
    if definition.max_outputs > 1 and len(targets) > definition.min_outputs:
        words.append(f"outputs={len(targets)}")
    one_line = f"op.{definition.name}({', '.join(words)})"
    if len(one_line) > 84 or "\n" in one_line:
        inside = "".join(f"    {each},\n".replace("\n", "\n    ").rstrip(" ") for each in words)
        one_line = f"op.{definition.name}(\n{inside})"
    if len(targets) == 1:
        return [one_line]
    kept = [each for each in targets if each != "_"]
    return [f"{', '.join(targets)} = {one_line}", ", ".join(kept)]


def _program(definition: OperatorDef, data: Sequence[str], call: Sequence[str]) -> str:
    module = module_of(definition.domain, version_for(definition))
    lines = [*data, *call]
    imports = {"ml_dtypes": "import ml_dtypes", "np": "import numpy as np"}
    head = [imports[each] for each in needed_modules(iter(lines))]
    takes = [each for each in data if each.startswith("from ")]
    rest = [each for each in data if not each.startswith("from ")]
    while rest and not rest[0]:
        rest = rest[1:]
    return "\n".join([*head, *takes, f"from onnxsmith import {module} as op", "", *rest, *call])


# ---- running them ----


@functools.cache
def _collected(name: str) -> Sequence[Case]:
    """What onnx's own function gives, without reading all cases again."""
    return [
        case for cases in _cases_of().values() for case in cases if case.model.graph.node[0].op_type == name
    ]


def _run(program: str, expected: Sequence[Any], tolerance: tuple[float, float], *, only_form: bool) -> str:
    """Run a program whose last line is an expression; its value as Python shows it, compared with what is expected."""
    body, _, last = _split_last(program)
    namespace: dict[str, Any] = {"__name__": "example"}
    body = body.replace(
        "from onnx.backend.test.case.node import collect_testcases",
        "from tools.reference.examples import _collected as collect_testcases",
    )
    filename = f"<example {abs(hash(program))}>"
    _remember_source(filename, body)
    exec(compile(body, filename, "exec"), namespace)
    value = eval(compile(last, filename, "eval"), namespace)
    actual = list(value) if isinstance(value, tuple) else [value]
    if len(actual) != len(expected):
        raise WrongExample(f"{len(actual)} results, {len(expected)} in the case")
    for one, other in zip(actual, expected, strict=True):
        if only_form:
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                raise WrongExample(
                    f"got {one.dtype} of {one.shape}, the case has {other.dtype} of {other.shape}"
                )
        else:
            check_equal(one, other, *tolerance)
    with np.printoptions(precision=4, suppress=True, threshold=60, edgeitems=2, linewidth=88):
        return _shown(value)


def _shown(value: Any) -> str:
    """As Python shows it, with one array of a tuple or list below the other."""
    if isinstance(value, tuple | list) and value:
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        items = [_shown(each).replace("\n", "\n ") for each in value]
        tail = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return opening + ",\n ".join(items) + tail + closing
    return repr(value)


def _remember_source(filename: str, text: str) -> None:
    """Let scripts find their source, as the notebook's cells do."""
    import linecache  # here, beside the only use

    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def _split_last(program: str) -> tuple[str, str, str]:
    """The program without its last expression, which may run over several lines, and that expression."""
    import ast  # here, beside the only use

    last = ast.parse(program).body[-1]
    lines = program.splitlines()
    return "\n".join(lines[: last.lineno - 1]), "\n", "\n".join(lines[last.lineno - 1 :])
