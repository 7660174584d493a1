"""The kinds of statements, one class each, and the table that says which class stages which statement."""

from __future__ import annotations

import ast

from onnxsmith.scripting.analysis.kinds import KINDS
from onnxsmith.scripting.staging.statements import assignments, branching, leaving, trying

KINDS.update(
    {
        ast.Assign: assignments.Assignment(),
        ast.AnnAssign: assignments.AnnotatedAssignment(),
        ast.AugAssign: assignments.AugmentedAssignment(),
        ast.Expr: assignments.Expression(),
        ast.Delete: assignments.Deletion(),
        ast.FunctionDef: assignments.Definition(),
        ast.Import: assignments.Importing(),
        ast.ImportFrom: assignments.Importing(),
        ast.If: branching.Condition(),
        ast.Match: branching.Matching(),
        ast.For: branching.Looping(),
        ast.While: branching.Looping(),
        ast.Return: leaving.Returning(),
        ast.Break: leaving.Breaking(),
        ast.Continue: leaving.Continuing(),
        ast.Raise: leaving.Raising(),
        ast.Assert: leaving.Assertion(),
        ast.Pass: leaving.Nothing(),
        ast.Nonlocal: leaving.Nothing(),
        ast.Try: trying.Trying(),
        ast.With: trying.Within(),
    }
)
