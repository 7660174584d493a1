"""Runs a piece of Python in a new interpreter, and says what it cost: CPU time and memory at its peak."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

# Runs after the snippet, in its process. The peak is read from /proc where there is one: what getrusage says
# there starts at the size of the process that started this one.
_REPORT = """
import time as _time
_cpu = _time.process_time()
import json as _json, sys as _sys
try:
    with open("/proc/self/status") as _status:
        _peak = next(int(_line.split()[1]) * 1024 for _line in _status if _line.startswith("VmHWM:"))
except (OSError, StopIteration):
    import resource as _resource
    _unit = 1 if _sys.platform == "darwin" else 1024
    _peak = _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss * _unit
print()
print(_json.dumps({"cpu_seconds": _cpu, "peak_bytes": _peak, "result": globals().get("result")}))
"""


@dataclass(frozen=True)
class Cost:
    """What a snippet cost, and what it left in a variable named `result`."""

    cpu_seconds: float
    peak_bytes: int
    result: object


def run(snippet: str, *arguments: str) -> Cost:
    """Run a snippet with `sys.argv[1:]` set to the arguments; raise RuntimeError with its output if it fails."""
    # -P: the folder this is started from must not be a place to import from.
    command = [sys.executable, "-P", "-c", snippet + _REPORT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode != 0:
        raise RuntimeError(
            f"the snippet failed with status {done.returncode}:\n{done.stderr.strip()[-2000:]}"
        )
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


@functools.cache
def _environment() -> dict[str, str]:
    """This one, with a place for bytecode: where none is written, every run would compile all of the source again."""
    folder = tempfile.mkdtemp(prefix="onnxsmith-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}
