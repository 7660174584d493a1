"""How many tests of the Array API's conformance suite fail: on arrays that are known, and on recorded models.

The suite (https://github.com/data-apis/array-api-tests) is not part of the project: `--set suite=FOLDER`, or the
environment's ARRAY_API_TESTS, says where it is, with its requirements installed here. `--set examples=20` asks for more
examples a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contest import Context
from benchmarks.rows import NOT_INSTALLED, Figure, Row, at_most

NAME = "array_api"
DESCRIPTION = "failing tests of the Array API's conformance suite, 2024.12"

_ROOT = Path(__file__).resolve().parent.parent
_RECORDED = "exec('from benchmarks.recorded_arrays import xp')"
#: Tests of names and signatures compute nothing: they are not counted where models are asked.
_FORMAL = ("test_has_names", "test_signatures")
_COMPLEX = "complex64,complex128"


@dataclass(frozen=True)
class _Score:
    failed: int
    passed: int

    @property
    def told(self) -> str:
        return f"{self.passed} passed"


def run(context: Context) -> list[Row]:
    """One row for each peer, and one for recorded models; none where the suite is not there."""
    where = context.settings.get("suite") or os.environ.get("ARRAY_API_TESTS")
    if not where or not (Path(where) / "array_api_tests").is_dir():
        print("the suite is not there: --set suite=FOLDER with a checkout of data-apis/array-api-tests")
        return []
    suite, examples = Path(where), int(context.number("examples", 3))
    whole = _asked(suite, "onnxsmith.numpy", examples)
    real = _asked(suite, "onnxsmith.numpy", examples, skipped=_COMPLEX)
    computed = _asked(suite, "onnxsmith.numpy", examples, without=_FORMAL)
    models = _asked(suite, _RECORDED, examples, without=_FORMAL)
    rows = [
        _row(context, suite, examples, "known elements", whole, "numpy"),
        _row(context, suite, examples, "known elements", whole, "array_api_strict"),
        _row(context, suite, examples, "without complex numbers", real, "ndonnx", skipped=_COMPLEX),
    ]
    # 95 of 100 of what passes on known elements.
    allowed = computed.failed + computed.passed // 20
    rows.append(
        Row(
            "recorded models, all sizes open",
            models.failed,
            "tests",
            "known elements",
            computed.failed,
            at_most(allowed),
            models.told,
        )
    )
    return rows


def _row(
    context: Context, suite: Path, examples: int, what: str, ours: _Score, peer: str, *, skipped: str = ""
) -> Row:
    theirs: Figure = NOT_INSTALLED if context.with_peers else "not asked"
    note = ours.told
    if context.has(peer):
        score = _asked(suite, peer, examples, skipped=skipped)
        theirs, note = score.failed, f"{ours.told}, {peer} {score.told}"
    return Row(what, ours.failed, "tests", peer, theirs, None, note)


def _asked(
    suite: Path, module: str, examples: int, *, skipped: str = "", without: tuple[str, ...] = ()
) -> _Score:
    """Run the suite on a namespace in a process of its own."""
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": "2024.12",
        "ARRAY_API_TESTS_SKIP_DTYPES": skipped,
        "PYTHONPATH": os.pathsep.join([str(suite), str(_ROOT / "src"), str(_ROOT)]),
    }
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "array_api_tests", "-q", "--disable-deadline"]
        command += ["--hypothesis-seed", "0", "--max-examples", str(examples), "-p", "no:cacheprovider"]
        command += [f"--skips-file={os.devnull}", f"--junitxml={report}"]
        command += [f"--ignore=array_api_tests/{each}.py" for each in without]
        environment["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        if not skipped:
            del environment["ARRAY_API_TESTS_SKIP_DTYPES"]
        done = subprocess.run(
            command, cwd=suite, env=environment, capture_output=True, text=True, check=False
        )
        if not report.exists():
            raise RuntimeError(f"the suite did not run on {module}:\n{(done.stdout + done.stderr)[-2000:]}")
        cases = list(ElementTree.parse(report).iter("testcase"))
    failed = sum(1 for each in cases if each.find("failure") is not None or each.find("error") is not None)
    passed = sum(1 for each in cases if len(each) == 0 or {part.tag for part in each} <= {"properties"})
    return _Score(failed, passed)
