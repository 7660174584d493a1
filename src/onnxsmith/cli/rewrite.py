"""`onnxsmith rewrite m.onnx --rules rules.py -o out.onnx`: a model with the rules of a Python file applied."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import cast

from onnxsmith.cli.model_output import beside, check_output, write_model
from onnxsmith.cli.program import find_object, load_program, taken_apart
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import shown
from onnxsmith.cli.terminal import progress
from onnxsmith.passes.rules import Rule, rewrite


def run(options: argparse.Namespace, report: Report) -> int:
    """Apply the rules and write the model."""
    check_output(options, report)
    model = load_model(options.model)
    rules = [rule for word in options.rules for rule in _rules(word)]
    with progress(f"rewriting {shown(options.model)}"):
        result = rewrite(model, rules, verify=options.verify)
    done = result.report
    said = {
        "file": options.model,
        "nodes_before": done.nodes_before,
        "nodes_after": done.nodes_after,
        "changes": [str(each) for each in done.edits],
        "verification": done.verification,
        "notes": done.notes,
    }
    return write_model(result, options, report, beside(options.model, "rewritten"), said, str(done))


def _rules(word: str) -> list[Rule]:
    file, name = taken_apart(word, "a rule")
    with progress(f"running {file}"):
        module = load_program(file)
    if name is not None:
        return _listed(find_object(module, name, file), word)
    if "rules" in vars(module):
        return _listed(vars(module)["rules"], f"{file}:rules")
    found = _own(module)
    if not found:
        raise Usage(f"{file} has no rules: it needs a list called rules, or rules by themselves")
    return found


def _listed(found: object, word: str) -> list[Rule]:
    items = list(cast("list[object]", found)) if isinstance(found, list | tuple) else [found]
    rules = [each for each in items if isinstance(each, Rule)]
    if not rules or len(rules) != len(items):
        raise Usage(f"{word} is no Rule, nor a list of them")
    return rules


def _own(module: ModuleType) -> list[Rule]:
    """The rules of a module, in the order in which it names them, each once."""
    return list(dict.fromkeys(each for each in vars(module).values() if isinstance(each, Rule)))
