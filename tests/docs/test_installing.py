"""The page on installing says what pyproject.toml says: the lowest versions, and every extra that is for users."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: For people who work on onnxsmith itself.
NOT_FOR_USERS = {"docs", "bench", "dev"}


def test_lowest_versions() -> None:
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *extras["ort"], *extras["torch"], *extras["sklearn"]]
    lowest = {
        "Python": PROJECT["requires-python"].removeprefix(">="),
        **dict(each.split(">=") for each in needed),
    }
    told = re.findall(r"^\| `?([\w-]+)`? \| ([\d.]+) \|", PAGE, re.MULTILINE)
    assert dict(told) == lowest


def test_extras() -> None:
    told = re.findall(r"^\| `(\w+)` \| [^\d]", PAGE, re.MULTILINE)
    assert set(told) == set(PROJECT["optional-dependencies"]) - NOT_FOR_USERS
