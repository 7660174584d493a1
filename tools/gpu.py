"""Run on a machine with CUDA what makes sense there: the law of devices, the tests of devices, the benchmarks.

`python -m tools.gpu --output gpu.md` writes the figures with the machine's name, and the same as data beside it
(`gpu.json`). It needs no package beyond those that the package runs with, torch among them; the tests run where pytest
is installed. Without a GPU it says so in one line.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DEVICE = "cuda"
PROVIDER = "CUDAExecutionProvider"
#: Tests that take their device from the variable.
TESTS = (
    "tests/runtime/test_devices.py",
    "tests/runtime/test_sessions.py",
    "tests/runtime/test_session_stress.py",
)
BENCHMARKS = ("devices",)
#: The package that it tests, and the tests' own modules.
_PATH = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")]))


def why_not() -> str | None:
    """Why this machine cannot run it, in a line; None if it can."""
    if importlib.util.find_spec("onnxruntime") is None:
        return "onnxruntime is not installed: pip install onnxruntime-gpu"
    if importlib.util.find_spec("torch") is not None:
        import torch  # it loads the libraries of CUDA that ONNX Runtime needs, too

        if not torch.cuda.is_available():
            return "there is no GPU here that torch can use"
    import onnxruntime

    if PROVIDER not in onnxruntime.get_available_providers():
        return f"this build of ONNX Runtime has no {PROVIDER}: pip install onnxruntime-gpu"
    if hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    return None


def machine() -> dict[str, str]:
    """The machine's name, and what the figures depend on."""
    import onnxruntime

    asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        name = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as problem:
        name = f"unknown ({problem})"
    found = {
        "gpu": name,
        "python": sys.version.split()[0],
        "onnxruntime": onnxruntime.__version__,
        "date": datetime.now(UTC).date().isoformat(),
    }
    for package in ("numpy", "onnx", "torch"):
        if importlib.util.find_spec(package) is not None:
            found[package] = str(importlib.import_module(package).__version__)
    return found


def _call(arguments: Sequence[str], seconds: float) -> int:
    """Run Python in the root with the device chosen; its exit status, or 124 when it took too long."""
    environment = {**os.environ, "PYTHONPATH": _PATH, "ONNXSMITH_TEST_DEVICE": DEVICE}
    print("$ python " + " ".join(arguments), flush=True)
    try:
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, timeout=seconds, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return 124


def law(options: argparse.Namespace) -> dict[str, Any]:
    """The counts of the law of devices, and what breaks it."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "law.json"
        status = _call(
            [
                *("-m", "tests.laws.device_law", "--device", DEVICE, "--json", str(written)),
                *(
                    "--jobs",
                    str(options.jobs),
                    "--seed",
                    str(options.seed),
                    "--spoiled",
                    str(options.spoiled),
                ),
                *("--limit", str(options.law_seconds)),
            ],
            options.law_seconds + 120,
        )
        return json.loads(written.read_text()) if written.exists() else {"status": status}


def tests(options: argparse.Namespace) -> dict[str, Any]:
    """The exit status of pytest on the tests of devices; it needs no plugins, and none of the suite's settings."""
    if importlib.util.find_spec("pytest") is None:
        return {"status": "pytest is not installed"}
    present = [each for each in TESTS if (ROOT / each).exists()]
    plain = ["-p", "no:cacheprovider", "--noconftest", "-o", "addopts=--import-mode=importlib"]
    return {"status": _call(["-m", "pytest", "-q", *plain, *present], options.test_seconds)}


def benchmarks(options: argparse.Namespace) -> dict[str, Any]:
    """The rows of the benchmarks of devices."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "rows.json"
        settings = [word for each in options.set for word in ("--set", each)]
        status = _call(
            ["-m", "benchmarks", *BENCHMARKS, "--json", str(written), *settings], options.benchmark_seconds
        )
        return json.loads(written.read_text()) if written.exists() else {"status": status}


def markdown(found: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [
        "# On " + found["machine"]["gpu"],
        "",
        ", ".join(f"{k} {v}" for k, v in found["machine"].items()),
    ]
    rows = [row for each in found.get("benchmarks", {}).get("benchmarks", {}).values() for row in each]
    if rows:
        lines += ["", "| what | ours | peer | theirs | ratio | bar | |", "| --- " * 7 + "|"]
    for row in rows:
        verdict = {None: "", True: "met", False: "MISSED"}[row["met"]]
        cells = (
            row["name"],
            f"{_short(row['ours'])} {row['unit']}",
            row["peer"],
            _short(row["theirs"]),
            _short(row["ratio"]),
            row["bar"] or "",
            " ".join(filter(None, (verdict, row["note"]))),
        )
        lines.append("| " + " | ".join(cells) + " |")
    if "roads" in found.get("law", {}):
        sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
        from tests.laws.device_law import table  # beside `found`, nothing else needs the package

        lines += ["", "## Law of devices", "", table(found["law"])]
    for part in ("law", "tests", "benchmarks"):
        if "status" in found.get(part, {}):
            lines += ["", f"{part}: status {found[part]['status']}"]
    return "\n".join(lines) + "\n"


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


PARTS = {"benchmarks": benchmarks, "tests": tests, "law": law}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and write what they found; 1 where something is wrong or missed, or there is no GPU."""
    parser = argparse.ArgumentParser(prog="dev.py gpu", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the figures go; gpu.md by default")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1), help="processes of the law")
    parser.add_argument("--seed", type=int, default=0, help="what spoiled cases are drawn from")
    parser.add_argument("--spoiled", type=int, default=600, metavar="N", help="how many spoiled cases")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the benchmarks")
    parser.add_argument("--law-seconds", type=float, default=1800.0, metavar="S")
    parser.add_argument("--test-seconds", type=float, default=600.0, metavar="S")
    parser.add_argument("--benchmark-seconds", type=float, default=900.0, metavar="S")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    reason = why_not()
    if reason is not None:
        print(f"dev.py gpu: {reason}", file=sys.stderr)
        return 1
    output = options.output or Path("gpu.md")
    found: dict[str, Any] = {"machine": machine()}
    for name in options.parts or PARTS:
        begun = time.monotonic()
        found[name] = PARTS[name](options)
        found[name]["seconds"] = round(time.monotonic() - begun)
        # After each part, so that a later one that ends the process loses nothing.
        output.with_suffix(".json").write_text(json.dumps(found, indent=2) + "\n")
        output.with_suffix(".md").write_text(markdown(found))
    print(markdown(found))
    return int(_is_wrong(found))


def _is_wrong(found: dict[str, Any]) -> bool:
    rows = [row for each in found.get("benchmarks", {}).get("benchmarks", {}).values() for row in each]
    return (
        any(row["met"] is False for row in rows)
        or bool(found.get("law", {}).get("findings"))
        or found.get("tests", {}).get("status", 0) not in (0, "pytest is not installed")
    )


if __name__ == "__main__":
    sys.exit(main())
