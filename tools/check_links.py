"""Checks links and shell commands in the README and the pages, without the network.

- A link to a file leads to one that is there; one to a heading of a page, to a heading that it has.
- A link to elsewhere is well formed, and its address begins with one of those in `docs/external-links.txt`: who adds
  a new place looks at it once. A line that no link needs is reported, too.
- A command that begins with `onnxsmith` is read by the command line itself, `python3 dev.py TASK` names a task, and
  `pip install onnxsmith[EXTRA]` an extra. Other programs are a short list.

The pages that the build makes of schemas are checked for links to files alone: their texts are ONNX's.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
LIST = "docs/external-links.txt"
#: Programs that a reader has, and whose own options are not checked.
_PROGRAMS = frozenset(
    {"cd", "git", "apt", "dnf", "python", "python3", "pip", ".ci/run", "mkdir", "cp", "ls", "echo", "source"}
)
_CODE_BLOCK = re.compile(r"^ *(```|~~~|:::).*?^ *\1", re.DOTALL | re.MULTILINE)
_SHELL_BLOCK = re.compile(r"^ *```(sh|bash|console|shell)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!\\)\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\)")
_HTML_LINK = re.compile(r"(?:href|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$", re.MULTILINE)
_TARGET = re.compile(r"^\(([\w.-]+)\)=$", re.MULTILINE)
_INLINE_COMMAND = re.compile(r"(?<!`)`(onnxsmith(?: [^`\n]+)+)`(?!`)")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and where."""

    place: str
    words: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words}"


def pages(root: Path) -> Iterator[Path]:
    """The files that readers read."""
    yield from (path for name in ("README.md", "CONTRIBUTING.md") if (path := root / name).exists())
    for path in sorted((root / "docs").rglob("*.md")):
        if "_build" not in path.parts:
            yield path


def is_made(path: Path, root: Path) -> bool:
    """Whether a page is made by the build of others' texts."""
    return path.is_relative_to(root / "docs/reference/operators")


# ---- links ----


def slug(heading: str) -> str:
    """The anchor that GitHub and MyST give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """What a link can lead to within a page."""
    text = _CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
    return {slug(each) for each in _HEADING.findall(text)} | set(_TARGET.findall(text))


def links(text: str) -> Iterator[tuple[int, str]]:
    """The targets of a page's links, with their lines; code is no link."""
    plain = _CODE_BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)
    plain = re.sub(r"(`+)(?:(?!\1).)+\1", "code", plain)
    for pattern in (_LINK, _HTML_LINK):
        for match in pattern.finditer(plain):
            yield plain.count("\n", 0, match.start()) + 1, match[1]


def link_findings(root: Path) -> Iterator[Finding]:
    """What is wrong with the links of all pages."""
    listed = [
        each for each in (root / LIST).read_text(encoding="utf-8").splitlines() if each and each[0] != "#"
    ]
    used: set[str] = set()
    for path in pages(root):
        for line, target in links(path.read_text(encoding="utf-8")):
            place = f"{path.relative_to(root)}:{line}"
            if re.match(r"[a-z]+:", target):
                known = next((each for each in listed if target.startswith(each)), None)
                used |= {known} if known else set()
                if is_made(path, root):
                    continue
                yield from (Finding(place, words) for words in _external(target, known))
            else:
                yield from (Finding(place, words) for words in _internal(target, path))
    yield from (Finding(LIST, f"no link begins with {each}") for each in listed if each not in used)


def _external(target: str, known: str | None) -> Iterator[str]:
    if target.startswith("mailto:"):
        return
    parts = urlsplit(target)
    if parts.scheme != "https" or not re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc) or " " in target:
        yield f"{target} is no address that a browser opens safely: https://host/..."
    elif known is None:
        yield f"{target} is not in {LIST}: look at it, and enter it"


def _internal(target: str, page: Path) -> Iterator[str]:
    name, _, anchor = unquote(target).partition("#")
    path = page if not name else page.parent / name
    if not target or (not name and not anchor):
        yield "a link without a target"
    elif not path.exists():
        yield f"{target} leads to nothing"
    elif anchor and path.suffix == ".md" and anchor not in anchors(path):
        yield f"{target}: the page has no heading or target {anchor!r}"


# ---- commands ----


def commands(text: str) -> Iterator[tuple[int, str]]:
    """The commands of a page, with their lines: of shell blocks, and of code in the text."""
    for block in _SHELL_BLOCK.finditer(text):
        begun = text.count("\n", 0, block.start(2)) + 1
        is_session = block[1] == "console"
        for offset, line in enumerate(block[2].splitlines()):
            command = line.strip()
            if is_session and not command.startswith("$ "):
                continue
            command = command.removeprefix("$ ")
            if command and not command.startswith("#"):
                yield begun + offset, command
    plain = _CODE_BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in _INLINE_COMMAND.finditer(plain):
        is_name = re.fullmatch(r"onnxsmith [a-z-]+", match[1])  # which command it is, and no call of it
        yield plain.count("\n", 0, match.start()) + 1, match[1] + (" --help" if is_name else "")


def command_findings(root: Path) -> Iterator[Finding]:
    """What is wrong with the commands of all pages."""
    for path in pages(root):
        if is_made(path, root):
            continue
        for line, command in commands(path.read_text(encoding="utf-8")):
            for words in _wrong(command, root):
                yield Finding(f"{path.relative_to(root)}:{line}", f"{command}: {words}")


def _wrong(command: str, root: Path) -> Iterator[str]:
    try:
        words = shlex.split(command, comments=True)
    except ValueError as error:
        yield f"no shell reads it: {error}"
        return
    for part in _simple_commands(words):
        while part and re.fullmatch(r"\w+=.*", part[0]):
            part = part[1:]
        if not part:
            continue
        if part[0] == "onnxsmith":
            yield from _not_of_ours(part[1:])
        elif part[:2] == ["python3", "dev.py"]:
            if len(part) > 2 and part[2] not in _tasks(root):
                yield f"dev.py has no task {part[2]!r}"
        elif "pip" in part[:3]:
            yield from _unknown_extras(part, root)
        elif part[0] not in _PROGRAMS:
            yield f"{part[0]!r} is no program that tools/check_links.py knows"


def _simple_commands(words: list[str]) -> Iterator[list[str]]:
    """The commands between pipes and their like, without what goes to files."""
    part: list[str] = []
    skips = False
    for word in words:
        if word in ("|", "&&", "||", ";"):
            yield part
            part = []
        elif word in (">", "<", ">>"):
            skips = True
        elif skips:
            skips = False
        else:
            part.append(word)
    yield part


def _not_of_ours(words: list[str]) -> Iterator[str]:
    """What the command line itself says against the words. Placeholders stand for one value: `…`, `MODEL`."""
    from onnxsmith.cli.parsing import check_command  # here, because links can be checked without the package

    if words == ["--help"] or words == ["--version"] or "…" in " ".join(words) or words[0].isupper():
        return
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            check_command(words)
    except ValueError as error:
        yield str(error)


def _tasks(root: Path) -> set[str]:
    spec = importlib.util.spec_from_file_location("dev_tasks", root / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {*module.TASKS, "help"}


def _unknown_extras(words: list[str], root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    for word in words:
        match = re.fullmatch(r"(?:onnxsmith|\.|[\w./-]+)\[([\w,]+)\]", word)
        if match and match[0].startswith(("onnxsmith[", ".[")):
            for extra in set(match[1].split(",")) - extras:
                yield f"there is no extra {extra!r}"


def main(arguments: list[str] | None = None) -> int:
    """Print what is wrong; return 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="the repository")
    root = parser.parse_args(arguments).root.resolve()
    found = [*link_findings(root), *command_findings(root)]
    for each in found:
        print(each)
    files = sum(1 for _ in pages(root))
    print(f"links: {files} pages, {len(found) or 'no'} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
