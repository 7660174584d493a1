"""The pieces of a release: versions, the changelog, checksums, provenance, wheels, and when it is refused."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tools import release
from tools.release_records import (
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

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## Unreleased

### Added

- more

## 0.2.0 (2030-01-01)

- second

## [0.1.0]

- first
"""
BUILD = Build("0.2.0", "a" * 40, {"python": "3.11.7", "hatchling": "1.26"}, "local", "begun", "ended")


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.3.0.dev0", "### Added\n\n- more\n"), ("0.2.0", "- second\n"), ("0.1.0", "- first\n")],
)
def test_the_section_of_a_version(version: str, expected: str) -> None:
    assert changelog_section(CHANGELOG, version) == expected


def test_a_version_without_a_section_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"## 0\.4\.0"):
        changelog_section(CHANGELOG, "0.4.0")


def test_versions() -> None:
    assert version_of('x = 1\n__version__ = "1.2.3"\n') == "1.2.3"
    with pytest.raises(ReleaseError):
        version_of("nothing")
    assert [is_released(each) for each in ("1.2.3", "1.2.3.dev0", "1.2.3rc1")] == [True, False, False]


def test_checksums_are_what_other_tools_read(tmp_path: Path) -> None:
    for name in ("b.whl", "a.tar.gz"):
        (tmp_path / name).write_text(name)
    text = checksums([tmp_path / "b.whl", tmp_path / "a.tar.gz"])
    assert text.splitlines()[0] == f"{hashlib.sha256(b'a.tar.gz').hexdigest()}  a.tar.gz"
    if shutil.which("sha256sum"):
        (tmp_path / "SHA256SUMS").write_text(text)
        subprocess.run(
            ["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL
        )


def test_provenance_names_files_commit_and_tools(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"content")
    statement = json.loads(provenance([tmp_path / "a.whl"], BUILD))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    assert statement["subject"] == [
        {"name": "a.whl", "digest": {"sha256": hashlib.sha256(b"content").hexdigest()}}
    ]
    definition = statement["predicate"]["buildDefinition"]
    assert {"name": "onnxsmith", "digest": {"gitCommit": "a" * 40}} in definition["resolvedDependencies"]
    assert {"name": "python", "annotations": {"version": "3.11.7"}} in definition["resolvedDependencies"]
    assert definition["externalParameters"] == {"version": "0.2.0"}
    assert str(tmp_path) not in json.dumps(statement)


@pytest.mark.parametrize(
    ("version", "changes", "tags", "said"),
    [
        ("0.2.0.dev0", "", [], "--dry-run"),
        ("0.2.0", " M dev.py", [], "commit them"),
        ("0.2.0", "", ["v0.1.0", "v0.2.0"], "raise __version__"),
    ],
)
def test_what_is_not_ready_is_refused(version: str, changes: str, tags: list[str], said: str) -> None:
    with pytest.raises(ReleaseError, match=re.escape(said)):
        release.check_ready(version, changes, tags)
    release.check_ready("0.2.0", "", ["v0.1.0"])


def make_wheel(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("onnxsmith/py.typed", "")
        archive.writestr("onnxsmith-1.dist-info/WHEEL", "Root-Is-Purelib: true\n")
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_wheel_is_for_every_system(tmp_path: Path) -> None:
    assert wheel_problems(make_wheel(tmp_path / "onnxsmith-1-py3-none-any.whl")) == []
    bad = make_wheel(
        tmp_path / "onnxsmith-1-cp311-linux.whl", **{"onnxsmith/a.so": "", "onnxsmith/PY.typed": ""}
    )
    problems = "\n".join(wheel_problems(bad))
    for said in ("py3-none-any", "a.so", "differ only in case"):
        assert said in problems


def test_wheels_are_compared_by_content(tmp_path: Path) -> None:
    one = make_wheel(tmp_path / "one.whl", a="1", b="2")
    other = make_wheel(tmp_path / "other.whl", a="1", b="3", c="4")
    assert differing_members(one, one) == []
    assert differing_members(one, other) == ["b", "c"]


def test_the_real_wheel_and_the_one_of_the_sdist_are_the_same(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    built = release.build(ROOT, tmp_path / "dist", "0")
    (wheel,) = [each for each in built if each.suffix == ".whl"]
    (sdist,) = [each for each in built if each.name.endswith(".tar.gz")]
    assert wheel_problems(wheel) == []
    tree = release.unpack(sdist, tmp_path / "tree")
    (again,) = release.build(tree, tmp_path / "again", "0", ["wheel"])
    assert differing_members(wheel, again) == []
    with tarfile.open(sdist) as archive:
        names = {each.partition("/")[2] for each in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "dev.py", "examples/demo.py"} <= names
    assert all((tree / each).exists() for each in release.TESTS)


def test_a_folder_that_holds_something_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert release.main(["--dry-run", "--output", str(tmp_path)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


def test_the_citation_and_the_licence_say_the_same() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert "license: Apache-2.0" in citation
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda each: each.name)
def test_workflows_and_forms_can_be_read(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_the_workflow_takes_its_key_from_outside() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "secrets.RELEASE_SIGNING_KEY" in text
    assert "BEGIN PGP" not in text
    assert sys.executable not in text
