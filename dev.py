"""The developer's entry point: makes the environment it needs, then runs one task in it.

Needs nothing but python3 and pip. It does not know how any task works; it only knows how each is started.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
# CI points this elsewhere, so that its result never depends on what a developer has installed.
ENVIRONMENT = ROOT / os.environ.get("ONNXSMITH_DEV_ENV", ".venv")
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = ENVIRONMENT / "onnxsmith-installed.json"

#: Extras that bring another one with them.
INCLUDED = {"dev": {"ort"}, "bench": {"ort"}}

#: Extras that are installed beside the package's own dependencies where tests run in an environment of their own,
#: and what of `dev` those tests need. Tests of scikit-learn, and its errors, make data frames.
TESTED_EXTRAS = ("ort", "safetensors", "sklearn")
OLDEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "cloudpickle", "pillow")
FRAME_TOOLS = ("pandas",)
LANGUAGE_TOOLS = (*OLDEST_TOOLS, *FRAME_TOOLS, "polars", "scipy", "debugpy", "ipython")
#: The oldest scikit-learn has partners of its time: newer scipys warn of what it does, and newer polars have left its
#: protocol of frames.
OLDEST_PARTNERS = ("scipy", "polars")
#: The tests of the core, which hold on every version that pyproject.toml allows; others compare with one's facts.
CORE_TESTS = (
    "tests/core",
    "tests/graphs",
    "tests/runtime/facts/test_probes.py",
    "tests/tracing",
    "tests/types",
    "tests/scripting/test_announced.py",
    "tests/scripting/test_pickling.py",
    # Of pipelines what does without trees and text: models of these do not run on ONNX Runtime 1.20.
    "tests/sklearn/test_converting.py",
    "tests/sklearn/test_recording.py",
    "tests/sklearn/test_skl2onnx_fallback.py",
    "tests/sklearn/families/test_neighbours.py",
    "tests/sklearn/families/test_support_vectors.py",
    "tests/sklearn/frames",
)

#: The tests of the language, which reads code objects, frames and syntax trees: they differ between versions of Python.
LANGUAGE_TESTS = (
    "tests/test_source.py",
    "tests/scripting",
    "tests/tracing",
    "tests/errors",
    "tests/core",
    "tests/cli",
)
#: On the newer Python, with the newest numpy: the language, the core, numpy's functions, and recorded numpy code.
NEWER_TESTS = (
    *LANGUAGE_TESTS,
    "tests/graphs",
    "tests/types",
    "tests/scripting/dialects/numpy",
    "tests/numpy/ufuncs",
    "tests/numpy/test_every_argument.py",
    "tests/numpy/test_refused_stores.py",
    "tests/numpy/test_shared_elements.py",
    "tests/numpy/test_written_rows.py",
)
#: Errors that only PyTorch's exporter raises: it is not installed there.
NOT_LANGUAGE = "not torch and not C70"

NO_PIP = f"""{sys.executable} has no pip, and cannot make one. Install it, then run this again:
  Debian, Ubuntu   apt install python3-pip
  Fedora           dnf install python3-pip
  elsewhere        https://pip.pypa.io/en/stable/installation/"""


def say(message: str) -> None:
    """Print a progress line at once, before what a subprocess prints."""
    print(f"dev.py: {message}", flush=True)


def fail(message: str) -> NoReturn:
    """Stop with a message and no traceback."""
    sys.exit(f"dev.py: {message}")


def run(*command: str | Path) -> int:
    """Run a command in the repository's root; return its exit status."""
    words = [str(word) for word in command]
    say("$ " + shlex.join(words))
    return subprocess.call(words, cwd=ROOT)


# ---- the environment ----


def installed_extras(fingerprint: str) -> set[str]:
    """The extras that are installed for this very pyproject.toml, with those they include."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return set()
    extras = set(stamp["extras"]) if stamp.get("fingerprint") == fingerprint else set[str]()
    return extras.union(*(INCLUDED.get(extra, ()) for extra in extras))


def project_fingerprint() -> str:
    """A hash of pyproject.toml."""
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()


def present_extras() -> set[str]:
    """The extras that the environment holds now."""
    return installed_extras(project_fingerprint()) if PYTHON.exists() else set[str]()


def has_pip(python: Path) -> bool:
    """Whether an interpreter can run pip."""
    probe = [str(python), "-c", "import pip"]
    return subprocess.call(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def make_environment(environment: Path, interpreter: str = sys.executable) -> None:
    """Create a virtual environment, without pip: Debian's bare python3 cannot put pip into one."""
    say(f"making the environment {environment}")
    if interpreter == sys.executable:
        venv.EnvBuilder(symlinks=os.name != "nt", with_pip=False).create(environment)
    elif subprocess.call([interpreter, "-m", "venv", "--without-pip", str(environment)]) != 0:
        fail(f"{interpreter} cannot make an environment; its messages are above")


def pip_command(python: Path) -> list[str]:
    """The pip that installs into the environment: its own, this interpreter's, or a bootstrapped one.

    This interpreter's pip only reads the system's files (`--python` makes it act inside the environment), so
    it works where a distribution forbids installing into its own Python (PEP 668).
    """
    if has_pip(python):
        return [str(python), "-m", "pip"]
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", str(python)]
    if importlib.util.find_spec("ensurepip") and subprocess.call([python, "-m", "ensurepip"]) == 0:
        return [str(python), "-m", "pip"]
    fail(NO_PIP)


PIP_OPTIONS = ["--quiet", "--disable-pip-version-check", "--no-input"]


def ensure(extras: set[str]) -> None:
    """Make the environment hold the package and these extras; do nothing if it already does."""
    fingerprint, present = project_fingerprint(), present_extras()
    if extras <= present:
        return
    if not PYTHON.exists():
        make_environment(ENVIRONMENT)
    wanted = ",".join(sorted(present | extras))
    say(f"installing onnxsmith[{wanted}]; the first time takes a minute or two")
    command = [*pip_command(PYTHON), "install", *PIP_OPTIONS, "--editable", f"{ROOT}[{wanted}]"]
    if subprocess.call(command) != 0:
        fail("the installation failed; pip's messages are above")
    STAMP.write_text(json.dumps({"fingerprint": fingerprint, "extras": sorted(present | extras)}))


def requirements(tools: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What pyproject.toml says of the package's dependencies with those of the tested extras, and of test tools."""
    import tomllib  # here, because an older Python is told below that it is too old

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(each for extra in TESTED_EXTRAS for each in extras[extra])]
    return needed, [each for each in extras["dev"] if re.split(r"[<>=\[ ]", each)[0] in tools]


def oldest_requirements() -> list[str]:
    """What the oldest environment holds: each lowest version that pyproject.toml allows, and the test tools."""
    needed, tools = requirements(OLDEST_TOOLS + FRAME_TOOLS)
    _, partners = requirements(OLDEST_PARTNERS)
    return [*(each.replace(">=", "==") for each in (*needed, *partners)), *tools]


def ensure_beside(name: str, wanted_packages: list[str], interpreter: str = sys.executable) -> Path:
    """The interpreter of an environment beside the usual one, made where there is none with these packages."""
    environment = ENVIRONMENT.with_name(f"{ENVIRONMENT.name}-{name}")
    python, stamp = environment / PYTHON.relative_to(ENVIRONMENT), environment / STAMP.name
    wanted = json.dumps(wanted_packages)
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    if not python.exists():
        make_environment(environment, interpreter)
    say("installing " + " ".join(wanted_packages))
    command = [*pip_command(python), "install", *PIP_OPTIONS, *wanted_packages, "--editable", str(ROOT)]
    if subprocess.call(command) != 0:
        fail(f"what {environment} needs cannot be installed; pip's messages are above")
    stamp.write_text(wanted)
    return python


#: The newer Python that CI tests on, with the newest numpy, and how it is made where there is none.
NEWER_PYTHON = "3.13"
NO_NEWER_PYTHON = """there is no Python {version} on PATH nor among pyenv's versions, and none can be installed:
{tried}
Install one, then run this again:
  pyenv            pyenv install {version}
  uv               uv python install {version}
  Debian, Ubuntu   apt install python{version} python{version}-venv"""


def interpreter_of(version: str) -> str | None:
    """The interpreter of a version, as in `3.13`, on PATH or among pyenv's; None if there is none that starts."""
    return next((each for each in _interpreters(version) if _is_of(each, version)), None)


def _interpreters(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    # Those of pyenv are not on PATH unless somebody has chosen them.
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [path for path in root.glob(f"versions/{version}.*/bin/python") if _patch(path) is not None]
    yield from map(str, sorted(found, key=lambda path: _patch(path) or 0, reverse=True))
    yield from map(str, sorted((ENVIRONMENT.parent / "pythons").glob(f"*{version}*/bin/python{version}")))


def _patch(python: Path) -> int | None:
    """The last number of the version that an interpreter of pyenv lies under; None for builds such as `3.13.0t`."""
    last = python.parent.parent.name.rpartition(".")[2]
    return int(last) if last.isdecimal() else None


def _is_of(interpreter: str, version: str) -> bool:
    # A launcher may have the name, and no interpreter behind it.
    probe = [interpreter, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def installed_interpreter(version: str) -> str:
    """The interpreter of a version, which pyenv or uv installs where there is none; fails in words if neither can."""
    found = interpreter_of(version)
    if found is not None:
        return found
    say(f"there is no Python {version}; installing one")
    tried: list[str] = []
    for words in _installers(version):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        found = interpreter_of(version)
        if found is not None:
            return found
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it gave no reason"]
        tried.append(f"  {shlex.join(words)}: {said[-1]}")
    fail(NO_NEWER_PYTHON.format(version=version, tried="\n".join(tried) or "  pyenv and uv are not there"))


def _installers(version: str) -> Iterator[list[str]]:
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        yield [pyenv, "install", "--skip-existing", version]
    uv = shutil.which("uv")
    if uv is None:  # it comes from PyPI as a program
        made = ensure_tool("uv")
        uv = None if made is None else str(made)
    if uv is not None:
        yield [uv, "python", "install", "--install-dir", str(ENVIRONMENT.parent / "pythons"), version]


def ensure_tool(name: str) -> Path | None:
    """A program of PyPI, in an environment of its own; None if it cannot be installed."""
    environment = ENVIRONMENT.with_name(f"{ENVIRONMENT.name}-{name}")
    python = environment / PYTHON.relative_to(ENVIRONMENT)
    program = python.with_name(name + (".exe" if os.name == "nt" else ""))
    if not python.exists():
        make_environment(environment)
    if not program.exists():
        subprocess.call([*pip_command(python), "install", *PIP_OPTIONS, name])
    return program if program.exists() else None


def newest_version() -> str:
    """The newest version of Python that is there and newer than this one, and else the one that can be installed."""
    versions = (f"3.{minor}" for minor in range(sys.version_info.minor + 5, sys.version_info.minor, -1))
    return next((each for each in versions if interpreter_of(each)), NEWER_PYTHON)


# ---- the tasks ----


def demo(arguments: list[str]) -> int:
    """Author, run, save and print a small model."""
    ensure({"ort"})
    return run(PYTHON, "examples/demo.py", *arguments)


def test(arguments: list[str]) -> int:
    """Run the tests; arguments go to pytest."""
    ensure({"dev"})
    return run(PYTHON, "-m", "pytest", *arguments)


def oldest(arguments: list[str]) -> int:
    """Run the core tests on the oldest dependencies that pyproject.toml allows; arguments go to pytest."""
    return run(ensure_beside("oldest", oldest_requirements()), "-m", "pytest", *(arguments or CORE_TESTS))


def other_python(arguments: list[str]) -> int:
    """Run the language, core and numpy tests on a newer Python: [VERSION, such as 3.13] [arguments of pytest]."""
    is_named = bool(arguments) and re.fullmatch(r"3\.\d+", arguments[0]) is not None
    version = arguments[0] if is_named else newest_version()
    needed, tools = requirements(LANGUAGE_TOOLS)
    python = ensure_beside(f"python{version}", [*needed, *tools], installed_interpreter(version))
    run(
        python,
        "-c",
        "import sys, numpy; print('Python', sys.version.split()[0], 'with numpy', numpy.__version__)",
    )
    tests = arguments[is_named:] or [*NEWER_TESTS, "-k", NOT_LANGUAGE]
    return run(python, "-m", "pytest", *tests)


def lint(arguments: list[str]) -> int:
    """Check style with ruff, changing nothing."""
    ensure({"dev"})
    checked = run(PYTHON, "-m", "ruff", "check", *arguments)
    return run(PYTHON, "-m", "ruff", "format", "--check", *arguments) or checked


def format_code(arguments: list[str]) -> int:
    """Apply ruff's safe fixes and format the code."""
    ensure({"dev"})
    checked = run(PYTHON, "-m", "ruff", "check", "--fix", *arguments)
    return run(PYTHON, "-m", "ruff", "format", *arguments) or checked


def types(arguments: list[str]) -> int:
    """Type-check: pyright on the package, mypy on programs that use it."""
    ensure({"dev"})
    package = run(PYTHON, "-m", "pyright", "--pythonpath", PYTHON, *arguments)
    return run(PYTHON, "-m", "mypy", "--python-executable", PYTHON) or package


def layers(arguments: list[str]) -> int:
    """Check that imports respect the layers of the design."""
    return run(sys.executable, "tools/check_layers.py", *arguments)


def sizes(arguments: list[str]) -> int:
    """Check file sizes and file names."""
    return run(sys.executable, "tools/check_sizes.py", *arguments)


def bare_any(arguments: list[str]) -> int:
    """Check how many parameters and returns have types that say nothing."""
    return run(sys.executable, "tools/count_any.py", *arguments)


def code(arguments: list[str]) -> int:
    """Count the lines and tokens of hand-written code, by package."""
    return run(sys.executable, "tools/count_code.py", *arguments)


def english(arguments: list[str]) -> int:
    """Check the English of pages, docstrings and errors: long sentences and riddles; --pending lists what is left."""
    return run(sys.executable, "tools/check_english.py", *arguments)


def stubs(arguments: list[str]) -> int:
    """Generate the stubs of operators, `Model` and public modules again; --check only compares."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_stubs.py", *arguments)


def indexes(arguments: list[str]) -> int:
    """Generate the indexes of lazy registries again; --check only compares."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_indexes.py", *arguments)


def torch_operators(arguments: list[str]) -> int:
    """Generate the page of Core ATen and Prims again; --check only compares, with the version of torch of the page."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_torch_operators.py", *arguments)


def array_reference(arguments: list[str]) -> int:
    """Generate the page of numpy's functions that arrays have again; --check only compares."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_array_reference.py", *arguments)


def kernel_table(arguments: list[str]) -> int:
    """Ask the installed ONNX Runtime for its kernels again; --check only compares, with the version of the table."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_kernel_table.py", *arguments)


def error_index(arguments: list[str]) -> int:
    """Write the page that lists all errors again; --check only compares."""
    ensure({"dev"})
    return run(PYTHON, "tools/generate_error_index.py", *arguments)


def docs(arguments: list[str]) -> int:
    """Build the documentation, running its examples, and check its links; a warning is an error."""
    ensure({"dev"})
    target = ROOT / "docs" / "_build" / "html"
    # -E: a page that did not change can still hold an example that no longer works. -j: pages run beside each other.
    options = ["-E", "-W", "--keep-going", "-q", "-j", "auto"]
    status = run(PYTHON, "-m", "sphinx", *options, *arguments, "docs", target)
    status = run(PYTHON, "tools/check_links.py") or status
    if status == 0:
        say(f"the documentation is at {target / 'index.html'}")
    return status


def pages(arguments: list[str]) -> int:
    """Look at the built pages in Chromium, wide and narrow, light and dark: [page ...]; all by default."""
    ensure({"dev"})
    return run(PYTHON, "tools/check_pages.py", "docs/_build/html", *arguments)


def pictures(arguments: list[str]) -> int:
    """Make the README's picture of the viewer again; needs Chromium."""
    ensure({"dev"})
    return run(PYTHON, "tools/make_pictures.py", *arguments)


def bench(arguments: list[str]) -> int:
    """Run the benchmarks: [name ...] [--json FILE] [--no-peers]."""
    ensure({"ort"} if "--no-peers" in arguments else {"bench"})
    return run(PYTHON, "-m", "benchmarks", *arguments)


def gpu(arguments: list[str]) -> int:
    """Run the law, tests and benchmarks of devices on CUDA, and write the figures: [PART ...] [--output FILE]."""
    if (
        shutil.which("nvidia-smi") is None
        or subprocess.call(["nvidia-smi", "-L"], stdout=subprocess.DEVNULL) != 0
    ):
        fail("there is no GPU here that CUDA can use")
    has_cuda = (
        "import torch, onnxruntime; assert 'CUDAExecutionProvider' in onnxruntime.get_available_providers()"
    )
    if subprocess.call([sys.executable, "-c", has_cuda], stderr=subprocess.DEVNULL) == 0:
        return run(sys.executable, "-m", "tools.gpu", *arguments)
    needed, tools = requirements(("pytest", "torch"))
    on_gpu = [re.sub(r"^onnxruntime\b", "onnxruntime-gpu", each) for each in needed]
    return run(ensure_beside("gpu", [*on_gpu, *tools]), "-m", "tools.gpu", *arguments)


def laws(arguments: list[str]) -> int:
    """Hold eager = jit = model on every operator, or other laws: [NAME ... | all] [--seed N] [--draws N]."""
    ensure({"dev"})
    return run(PYTHON, "-m", "tests.laws", *arguments)


def mutants(arguments: list[str]) -> int:
    """Break random lines of the package and see which tests notice: [--seed N] [--count N] [--nearest]."""
    ensure({"dev"})
    return run(PYTHON, "-m", "tools.mutants", *arguments)


def alone(arguments: list[str]) -> int:
    """Run every test file in a process of its own: [PATH ...] [--order SEED] [--write] [--lines FILE]."""
    ensure({"dev"})
    return run(PYTHON, "-m", "tools.mutants.alone", *arguments)


def calls(arguments: list[str]) -> int:
    """Count the functions of ours that a cached call and a first call enter: [--list NAME]."""
    ensure({"dev"})
    return run(PYTHON, "-m", "tools.count_calls", *arguments)


def check(arguments: list[str]) -> int:
    """Run every static check: lint, layers, sizes, types that say nothing, English, stubs, the indexes, types."""
    if arguments:
        fail("check takes no arguments; run the single task to pass some")
    results = {
        "lint": lint([]),
        "layers": layers([]),
        "sizes": sizes([]),
        "any": bare_any([]),
        "english": english([]),
        "stubs": stubs(["--check"]),
        "indexes": indexes(["--check"]),
        "aten": torch_operators(["--check"]),
        "arrays": array_reference(["--check"]),
        "kernels": kernel_table(["--check"]),
        "errors": error_index(["--check"]),
        "types": types([]),
    }
    for name, status in results.items():
        say(f"{name:8} {'ok' if status == 0 else 'FAILED'}")
    return int(any(results.values()))


def release(arguments: list[str]) -> int:
    """Build wheel and sdist, try them in a bare environment, write checksums and provenance; --dry-run, --output."""
    ensure({"dev"})
    return run(PYTHON, "tools/release.py", *arguments)


def hooks(arguments: list[str]) -> int:
    """Install the pre-commit hooks into this clone."""
    ensure({"dev"})
    return run(PYTHON, "-m", "pre_commit", "install", *arguments)


TASKS: dict[str, Callable[[list[str]], int]] = {
    "demo": demo,
    "test": test,
    "oldest": oldest,
    "python": other_python,
    "check": check,
    "lint": lint,
    "format": format_code,
    "types": types,
    "layers": layers,
    "sizes": sizes,
    "any": bare_any,
    "code": code,
    "english": english,
    "stubs": stubs,
    "indexes": indexes,
    "aten": torch_operators,
    "arrays": array_reference,
    "kernels": kernel_table,
    "errors": error_index,
    "docs": docs,
    "pages": pages,
    "bench": bench,
    "gpu": gpu,
    "pictures": pictures,
    "laws": laws,
    "mutants": mutants,
    "alone": alone,
    "calls": calls,
    "release": release,
    "hooks": hooks,
}


#: Tasks that need no environment, and those that read their own arguments or have an environment beside the usual one.
BARE_TASKS = ("layers", "sizes", "any", "code", "english")
OTHER_TASKS = ("oldest", "python", "check", "gpu")


def may_ask(name: str) -> bool:
    """True if a task can print its own options at once, without an installation."""
    extras = {"demo": {"ort"}, "bench": {"bench"}}.get(name, {"dev"})
    return name in BARE_TASKS or (name not in OTHER_TASKS and extras <= present_extras())


def usage() -> str:
    """The help text."""
    lines = ["usage: python3 dev.py TASK [arguments]", ""]
    lines += [f"  {name:10}{task.__doc__}" for name, task in TASKS.items()]
    lines += ["", "The environment is .venv, or the folder that ONNXSMITH_DEV_ENV names."]
    return "\n".join(lines)


def help_of(name: str) -> str:
    """The help text of a task, for which nothing is installed."""
    return (
        f"usage: python3 dev.py {name} [arguments]\n\n{TASKS[name].__doc__}\n\n"
        "The task lists all of its options when its environment is there: it is made when the task first runs."
    )


def main(arguments: list[str]) -> int:
    """Run the task that the arguments name; return its exit status."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    if arguments[0] not in TASKS:
        fail(f"there is no task {arguments[0]!r}\n\n{usage()}")
    if {"-h", "--help"} & set(arguments[1:]) and not may_ask(arguments[0]):
        print(help_of(arguments[0]))
        return 0
    return TASKS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - the version that runs this file is not the one ruff assumes
        fail(f"onnxsmith needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})")
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
