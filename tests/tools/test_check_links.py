"""The checker of links and commands on small made-up repositories, and on this one's README."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_links

ROOT = Path(__file__).resolve().parents[2]


def repository(root: Path, page: str) -> Path:
    docs = root / "docs"
    docs.mkdir()
    (docs / "page.md").write_text(page)
    (docs / "other.md").write_text("# A heading\n\n(a-target)=\n## More: `code`\n")
    (docs / "external-links.txt").write_text("# listed\n")
    (root / "dev.py").write_text("TASKS = {'test': None}\n")
    (root / "pyproject.toml").write_text("[project]\n[project.optional-dependencies]\nort = []\n")
    return root


def findings(root: Path, page: str) -> list[str]:
    made = repository(root, page)
    return [str(each) for each in (*check_links.link_findings(made), *check_links.command_findings(made))]


@pytest.mark.parametrize(
    "page",
    [
        "[it](other.md)",
        "[it](other.md#a-heading) and [](other.md#more-code) and [](other.md#a-target)",
        "`[code](is no link)`",
        "```python\nx[0](nothing)\n```",
        "```console\n$ onnxsmith info net.onnx --json\nopset 21\n```",
        "`onnxsmith optimize` makes it smaller: `onnxsmith optimize net.onnx -o small.onnx`",
        "```sh\npython3 dev.py test   # comment\npip install '.[ort]'\nPYTHON=x python3 dev.py test | ls > file\n```",
    ],
)
def test_good(page: str, tmp_path: Path) -> None:
    assert findings(tmp_path, page) == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("\n[it](gone.md)", "docs/page.md:2: gone.md leads to nothing"),
        ("[it](other.md#nowhere)", "the page has no heading or target 'nowhere'"),
        ("[it]()", "a link without a target"),
        ("[it](http://example.org)", "no address that a browser opens safely"),
        ("[it](https://example.org/x)", "is not in docs/external-links.txt"),
        (
            "```sh\nonnxsmith optimise net.onnx\n```",
            "there is no command 'optimise'; did you mean 'optimize'?",
        ),
        ("```console\n$ onnxsmith info net.onnx --colour\n```", "unrecognized arguments: --colour"),
        ("write `onnxsmith frobnicate net.onnx`", "there is no command 'frobnicate'"),
        ("```sh\npython3 dev.py tets\n```", "dev.py has no task 'tets'"),
        ("```sh\npip install '.[gpu]'\n```", "there is no extra 'gpu'"),
        ("```sh\nfrobnicate\n```", "no program that tools/check_links.py knows"),
        ("```sh\necho 'x\n```", "no shell reads it"),
    ],
)
def test_wrong(page: str, words: str, tmp_path: Path) -> None:
    (found,) = findings(tmp_path, page)
    assert words in found


def test_a_listed_place_that_no_link_needs(tmp_path: Path) -> None:
    root = repository(tmp_path, "[it](https://example.org/x)")
    (root / check_links.LIST).write_text("https://example.org/\nhttps://example.com/\n")
    (found,) = check_links.link_findings(root)
    assert found.words == "no link begins with https://example.com/"


def test_commands_of_this_repository_are_understood() -> None:
    assert [str(each) for each in check_links.command_findings(ROOT)] == []
