"""Makes a release: builds wheel and sdist, tries both in a bare environment, and writes what goes beside them.

Publishes nothing and signs nothing: a workflow does that, with keys that it is given. With --dry-run the version may be
one between releases, and the working tree may hold changes.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # dev.py makes environments; the tools stand beside each other

import dev  # noqa: E402
from tools.release_records import (  # noqa: E402
    Build,
    ReleaseError,
    changelog_section,
    checksums,
    differing_members,
    is_released,
    provenance,
    version_of,
    wheel_problems,
)

#: What is run in the bare environment beside the demo: tests that look at the package alone, and not at a clone.
TESTS = ("tests/types", "tests/core", "tests/tracing", "tests/graphs/test_files.py")


def git(*words: str) -> str:
    """What a git command prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"git {' '.join(words)} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def check_ready(version: str, changes: str, tags: Sequence[str]) -> None:
    """Refuse to release what is not ready: an unreleased version, local changes, a version of another commit.

    `tags` are those of other commits.
    """
    if not is_released(version):
        raise ReleaseError(f"{version} is no version to release; set __version__, or say --dry-run")
    if changes:
        raise ReleaseError(f"the working tree has changes that no commit has; commit them first:\n{changes}")
    if f"v{version}" in tags:
        raise ReleaseError(f"the tag v{version} is at another commit; raise __version__")


def build(source: Path, target: Path, commit_time: str, kinds: Sequence[str] = ()) -> list[Path]:
    """Build the distributions of a source tree; with the time of the commit in them, the same each time."""
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    words += [word for kind in kinds for word in ("-t", kind)]
    before = set(target.iterdir()) if target.is_dir() else set[Path]()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": commit_time}
    done = subprocess.run(words, cwd=source, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"hatchling cannot build {source}:\n{done.stdout}{done.stderr}")
    return sorted(set(target.iterdir()) - before)


def unpack(sdist: Path, folder: Path) -> Path:
    """The source tree of an sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def check_in_bare_environment(wheel: Path, tree: Path, folder: Path) -> None:
    """Install the wheel where nothing else is; run the demo from an empty folder, and tests that need no clone."""
    environment = folder / "environment"
    dev.make_environment(environment)
    python = environment / dev.PYTHON.relative_to(dev.ENVIRONMENT)
    _, tools = dev.requirements(dev.OLDEST_TOOLS)
    dev.say(f"installing {wheel.name} and what it needs")
    install = [
        *dev.pip_command(python),
        "install",
        *dev.PIP_OPTIONS,
        f"onnxsmith[ort] @ {wheel.as_uri()}",
        *tools,
    ]
    _must([str(word) for word in install], folder, "pip cannot install the wheel")
    empty = folder / "empty"
    empty.mkdir()
    shutil.copy(tree / "examples" / "demo.py", empty)
    _must([str(python), "-m", "onnxsmith", "--version"], empty, "the command does not start")
    _must([str(python), "demo.py"], empty, "the demo fails")
    # Without the source beside them, the tests can only be about what is installed.
    shutil.rmtree(tree / "src")
    _must([str(python), "-m", "pytest", "-q", "-n", "2", *TESTS], tree, "tests fail on the installed package")


def _must(command: Sequence[str], folder: Path, message: str) -> None:
    dev.say("$ " + " ".join(Path(command[0]).name if n == 0 else word for n, word in enumerate(command)))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if subprocess.call(command, cwd=folder, env=kept) != 0:
        raise ReleaseError(f"{message}; what it printed is above")


def tool_versions() -> Mapping[str, str]:
    """The tools that a build depends on."""
    return {
        "python": platform.python_version(),
        "hatchling": metadata.version("hatchling"),
        "operating system": platform.system(),
    }


def now() -> str:
    """The time in UTC, as RFC 3339 writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def release(target: Path, *, is_dry: bool, tries: bool) -> Sequence[Path]:
    """Build, check and describe a release in a folder; return the files."""
    version = version_of((ROOT / "src/onnxsmith/__init__.py").read_text(encoding="utf-8"))
    changes = git("status", "--porcelain")
    if not is_dry:
        check_ready(version, changes, git("tag", "--no-contains", "HEAD").splitlines())
    notes = changelog_section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    begun, commit, commit_time = now(), git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct")
    if target.exists() and any(target.iterdir()):
        raise ReleaseError(
            f"{target} is not empty; remove what is there, or name another folder with --output"
        )
    target.mkdir(parents=True, exist_ok=True)
    built = build(ROOT, target, commit_time)
    (wheel,) = [each for each in built if each.suffix == ".whl"]
    (sdist,) = [each for each in built if each.name.endswith(".tar.gz")]
    problems = wheel_problems(wheel)
    with tempfile.TemporaryDirectory() as scratch:
        tree = unpack(sdist, Path(scratch, "sdist"))
        (again,) = build(tree, Path(scratch, "again"), commit_time, ["wheel"])
        different = differing_members(wheel, again)
        problems += [f"the wheel that the sdist gives differs in {each}" for each in different]
        if problems:
            raise ReleaseError("\n".join(problems))
        dev.say(f"{wheel.name} is pure Python, and the sdist gives the same wheel")
        if tries:
            check_in_bare_environment(wheel, tree, Path(scratch))
    builder = os.environ.get("ONNXSMITH_RELEASE_BUILDER", "local")
    made = Build(version, commit, tool_versions(), builder, begun, now(), is_clean=not changes)
    records = {
        "SHA256SUMS": checksums(built),
        f"onnxsmith-{version}.provenance.json": provenance(built, made),
        f"onnxsmith-{version}.changes.md": notes,
    }
    for name, text in records.items():
        (target / name).write_text(text, encoding="utf-8")
    return [*built, *(target / name for name in records)]


def main(arguments: list[str]) -> int:
    """Make a release; 1 where it is not ready or does not work."""
    parser = argparse.ArgumentParser(prog="dev.py release", description=__doc__)
    parser.add_argument(
        "--dry-run", action="store_true", help="allow a version between releases and local changes"
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "dist", help="where the files go; dist by default"
    )
    parser.add_argument("--no-try", action="store_true", help="do not try the wheel in a bare environment")
    options = parser.parse_args(arguments)
    try:
        files = release(options.output.resolve(), is_dry=options.dry_run, tries=not options.no_try)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    for each in files:
        print(f"{each.stat().st_size:>12,}  {each}")
    print(
        "nothing was published: a dry run"
        if options.dry_run
        else "tag the commit, and the workflow signs these"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
