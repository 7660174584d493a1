"""Names in a script that are defined nowhere: neither in it, nor around it, nor further down in its module."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterable

from onnxsmith.diagnostics import undefined_name_help
from onnxsmith.errors import OnnxsmithError, RecursiveFunctionError, UndefinedNameError
from onnxsmith.scripting.analysis.names import free_names
from onnxsmith.scripting.source.function_source import FunctionNode, module_level_names, span_of


class UndefinedNames:
    """The names of one function that had no value when it was decorated."""

    def __init__(
        self, node: FunctionNode, function: types.FunctionType, name: str, reads: Iterable[str] | None = None
    ) -> None:
        self._node = node
        self._function = function
        self._name = name
        # The names that its expressions read are known where it was analysed: most functions are done with that.
        is_open = reads is None or any(not _is_defined(each, function) for each in reads)
        self._uses = _undefined_names(node, function) if is_open else []

    @property
    def missing(self) -> list[ast.Name]:
        """Where those stand that still have no value."""
        return [each for each in self._uses if not _is_defined(each.id, self._function)]

    def errors(self, variables: Iterable[str]) -> list[OnnxsmithError]:
        """An error for each name that is defined neither now nor further down, and for a call of itself."""
        code = self._function.__code__
        missing = self.missing
        later = set(module_level_names(code.co_filename)) if missing else set[str]()
        known = {*self._function.__globals__, *variables, *dir(builtins), *later}
        errors: list[OnnxsmithError] = []
        for name in missing:
            span = span_of(name, code.co_filename, self._name)
            if name.id == self._name and _is_called(name, self._node):
                recursive = RecursiveFunctionError(
                    f"'{name.id}' calls itself, and an ONNX function cannot", help="write a loop"
                )
                errors.append(recursive.locate(span))
            elif name.id not in later and name.id not in code.co_freevars:
                help_text = undefined_name_help(name.id, known)
                errors.append(UndefinedNameError(f"'{name.id}' is not defined", help=help_text).locate(span))
        return errors


def _is_called(name: ast.Name, node: FunctionNode) -> bool:
    return any(isinstance(each, ast.Call) and each.func is name for each in ast.walk(node))


def _undefined_names(node: FunctionNode, function: types.FunctionType) -> list[ast.Name]:
    """Names that are neither variables of the function nor defined around it."""
    names = [each for each in free_names(node) if not _is_defined(each, function)]
    if not names:
        return []
    body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    inside = {id(each) for part in body for each in ast.walk(part)}
    # What a script cannot contain has names of its own, which nobody looks at.
    refused = [each for each in ast.walk(node) if isinstance(each, ast.AsyncFunctionDef | ast.ClassDef)]
    inside -= {id(each) for part in refused for each in ast.walk(part)}
    uses: list[ast.Name] = []
    for name in names:
        found = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
        uses += [each for each in found if id(each) in inside][:1]
    return uses


def _is_defined(name: str, function: types.FunctionType) -> bool:
    if name in function.__code__.co_freevars:  # whatever else is called so
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            _ = cell.cell_contents
        except ValueError:
            return False
        return True
    return name in function.__globals__ or hasattr(builtins, name)
