"""What is written beside a release: its section of the changelog, checksums, and a statement of where it comes from.

Computes texts from what it is given; it builds, runs and publishes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
_RELEASED = re.compile(r"\d+\.\d+\.\d+")
#: The format of the provenance: an in-toto statement with a predicate of SLSA.
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"


class ReleaseError(Exception):
    """The release cannot be made; the message says why, and what to do."""


@dataclass(frozen=True)
class Build:
    """What was built, of what, and with what."""

    version: str
    #: The commit, in hexadecimal.
    commit: str
    #: Names and versions of the tools that built it: python, hatchling, the operating system.
    tools: Mapping[str, str]
    #: Who ran the build: the address of a workflow, or a word.
    builder: str
    #: When it began and ended, in UTC as RFC 3339 writes it.
    begun: str
    ended: str
    #: Whether the files in the working tree are those of the commit.
    is_clean: bool = True


def version_of(source: str) -> str:
    """The version that the source of the package declares."""
    found = _VERSION.search(source)
    if found is None:
        raise ReleaseError("the package declares no __version__")
    return found["version"]


def is_released(version: str) -> bool:
    """Whether a version is one to publish, and no step between two."""
    return _RELEASED.fullmatch(version) is not None


def changelog_section(changelog: str, version: str) -> str:
    """The text of a version's section; of a version that is not released yet, of what is unreleased."""
    wanted = version if is_released(version) else "Unreleased"
    lines: list[str] = []
    is_inside = False
    for line in changelog.splitlines():
        if line.startswith("## "):
            # A released section may have a date behind the version.
            is_inside = line.removeprefix("## ").split()[0].strip("[]") == wanted
            continue
        if is_inside:
            lines.append(line)
    text = "\n".join(lines).strip()
    if not text:
        raise ReleaseError(f"CHANGELOG.md says nothing under '## {wanted}'; write what changes for users")
    return f"{text}\n"


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(files: Sequence[Path]) -> str:
    """Checksums in the form that `sha256sum --check` reads."""
    return "".join(f"{sha256(each)}  {each.name}\n" for each in sorted(files))


def provenance(files: Sequence[Path], build: Build) -> str:
    """The statement that files were built of a commit with certain tools, as JSON."""
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": each.name, "digest": {"sha256": sha256(each)}} for each in sorted(files)],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": "onnxsmith:dev.py/release@v1",
                "externalParameters": {"version": build.version},
                "internalParameters": {"cleanWorkingTree": build.is_clean},
                "resolvedDependencies": [
                    {"name": "onnxsmith", "digest": {"gitCommit": build.commit}},
                    *(
                        {"name": name, "annotations": {"version": version}}
                        for name, version in sorted(build.tools.items())
                    ),
                ],
            },
            "runDetails": {
                "builder": {"id": build.builder},
                "metadata": {"startedOn": build.begun, "finishedOn": build.ended},
            },
        },
    }
    return json.dumps(statement, indent=2) + "\n"


def wheel_problems(wheel: Path) -> list[str]:
    """What keeps a wheel from being one for every system: compiled files, or tags that name a system."""
    problems: list[str] = []
    if not wheel.name.endswith("-py3-none-any.whl"):
        problems.append(f"{wheel.name} is not tagged py3-none-any")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(each for each in names if each.endswith(".dist-info/WHEEL"))
        if "Root-Is-Purelib: true" not in archive.read(metadata).decode():
            problems.append("the wheel does not say that it is pure Python")
    compiled = [each for each in names if each.endswith((".so", ".pyd", ".dll", ".dylib", ".pyc"))]
    problems += [f"the wheel holds a compiled file: {each}" for each in compiled]
    if "onnxsmith/py.typed" not in names:
        problems.append("the wheel has no onnxsmith/py.typed")
    lowered = [each.lower() for each in names]
    problems += [
        f"two files differ only in case, which Windows and macOS do not tell apart: {each}"
        for each in names
        if lowered.count(each.lower()) > 1
    ]
    return problems


def differing_members(wheel: Path, other: Path) -> list[str]:
    """The files that two wheels do not have in common, or not with the same content."""
    with zipfile.ZipFile(wheel) as left, zipfile.ZipFile(other) as right:
        names = {*left.namelist(), *right.namelist()}
        kept = {*left.namelist()} & {*right.namelist()}
        return sorted(each for each in names if each not in kept or left.read(each) != right.read(each))
