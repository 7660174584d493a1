"""The verdict on one backend case: decompiled, imported, checked, compared, decompiled again, and run.

Stages are judged in this order, and the first that fails ends the verdict, since the later ones would only repeat it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx

import onnxsmith
from tests.decompile.backend_cases import Case
from tests.decompile.engines import ENGINES, failure, is_judged
from tests.decompile.fidelity import differences
from tests.decompile.round_trip import compile_text, first_difference

#: What can go wrong, in the order in which it is looked for; the engines come last.
STAGES = ("decompile", "import", "checker", "fidelity", "stability", *ENGINES)


@dataclass
class Verdict:
    """How far a case came: the stage that failed and why, and the engines that could judge it."""

    case: Case
    failed: str | None = None
    why: str = ""
    judged_by: list[str] = field(default_factory=list)

    def fail(self, stage: str, why: str) -> Verdict:
        self.failed, self.why = stage, why
        return self

    def __str__(self) -> str:
        return f"{self.case}: {self.failed or 'passes'}: {self.why}"


def judge(case: Case, engines: Sequence[str] = ENGINES) -> Verdict:
    """Judge one case on these engines."""
    verdict = Verdict(case)
    try:
        text = onnxsmith.decompile(case.model)
    except Exception as error:
        return verdict.fail("decompile", in_one_line(error))
    try:
        proto = compile_text(text)
    except Exception as error:
        return verdict.fail("import", in_one_line(error))
    if (complaint := complaint_of_checker(proto)) and not complaint_of_checker(case.model):
        return verdict.fail("checker", complaint)
    if found := differences(case.model, proto):
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        return verdict.fail("fidelity", "; ".join(found[:3]) + more)
    try:
        changed = first_difference(text, onnxsmith.decompile(proto))
    except Exception as error:
        changed = in_one_line(error)
    if changed:
        return verdict.fail("stability", changed)
    for engine in engines:
        if is_judged(engine, case) and failure(engine, case.model, case) is None:
            verdict.judged_by.append(engine)
            if why := failure(engine, proto, case):
                return verdict.fail(engine, why)
    return verdict


def complaint_of_checker(proto: onnx.ModelProto) -> str | None:
    """What onnx's checker says against a model; None when it is content."""
    try:
        onnx.checker.check_model(proto)
    except Exception as error:  # the checker raises unrelated classes
        return in_one_line(error)
    return None


def in_one_line(error: BaseException) -> str:
    """The class of an error, and the beginning of what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:240]}"
