"""Runs the benchmarks and prints one table for each, or writes them all as JSON."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import pkgutil
import platform
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import benchmarks
from benchmarks.contest import Context
from benchmarks.rows import Row, table

PREFIX = "bench_"
_PACKAGES = ("numpy", "onnx", "onnx-ir", "onnxruntime", "onnxsmith", "onnxscript", "spox", "ndonnx")


def names() -> list[str]:
    """The benchmarks there are."""
    modules = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix(PREFIX) for name in modules if name.startswith(PREFIX))


def load(name: str) -> ModuleType:
    """The module of a benchmark."""
    return importlib.import_module(f"benchmarks.{PREFIX}{name}")


def environment() -> dict[str, object]:
    """What the figures depend on."""
    versions: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": versions,
    }


def run_one(module: ModuleType, context: Context) -> list[Row]:
    """Run one benchmark and print its table."""
    print(f"\n{module.NAME}: {module.DESCRIPTION}", flush=True)
    rows: list[Row] = module.run(context)
    print(table(rows), flush=True)
    return rows


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments name; return 1 if a benchmark failed to run. A missed bar is no failure."""
    parser = argparse.ArgumentParser(prog="python3 dev.py bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help="of " + ", ".join(names()) + "; all by default"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--no-peers", action="store_true", help="run without onnxscript, spox and ndonnx")
    parser.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a benchmark's own setting",
    )
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}")

    context = Context(not options.no_peers, dict(options.set))
    about = environment()
    print(" ".join(f"{key} {value}" for key, value in about.items() if key != "packages"))
    results: dict[str, list[Row]] = {}
    failed: list[str] = []
    for name in options.names or names():
        try:
            results[name] = run_one(load(name), context)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    if options.json:
        rows = {name: [row.as_json() for row in found] for name, found in results.items()}
        options.json.write_text(json.dumps({"environment": about, "benchmarks": rows}, indent=2) + "\n")
    verdicts = [row.is_met for rows in results.values() for row in rows if row.is_met is not None]
    print(f"\nbars: {verdicts.count(True)} met, {verdicts.count(False)} missed", end="")
    print(f"; failed to run: {', '.join(failed)}" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
