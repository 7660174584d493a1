"""Checks the English of pages, docstrings and errors: sentences that are too long, and phrases that are riddles.

python tools/check_english.py            # check; exit 1 where there is a problem
python tools/check_english.py --pending  # list what packages still have to rewrite

Pages, the texts of errors, and docstrings hold to all rules. `PENDING` would name packages whose inner docstrings still
break them; it is empty, and its numbers may only fall.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a file, from anywhere

from tools.prose import Prose, exported_names, read_file, sentences, words  # noqa: E402

PACKAGE = ROOT / "src" / "onnxsmith"
LONGEST_SENTENCE = 35

#: A phrase, and what to write instead.
PHRASES: dict[str, str] = {
    r"hang(?:s|ing)? on (?!to\b)": "depends on",
    r"if it may go": "to replace it",
    r"has its say": "checks it",
    r"(?:is|are|be) of use": "helps",
    r"for who (?:asks|wants|has|reads|writes)": "for callers that",
    r"take the word away": "clear the line",
    r"what is what\b": "name the two things",
    r"somebody unnamed": "an unknown producer",
    r"as it were": "leave it out",
    r"so to (?:say|speak)": "leave it out",
    r"utiliz\w+": "use",
    r"in order to": "to",
    r"due to the fact that": "because",
}
_PHRASES = {re.compile(rf"\b{phrase}", re.IGNORECASE): instead for phrase, instead in PHRASES.items()}
_RIDDLE = re.compile(r"(what|whether|which)\b", re.IGNORECASE)

#: Pages that hold to the rules of phrases only: records of what was done, and what is generated from docstrings.
RECORDS = ("CHANGELOG.md", "docs/reference/errors.md")

#: Places that are still to be rewritten, by package, and by page or folder of pages. A number may only fall.
PENDING: dict[str, int] = {}


@dataclass(frozen=True)
class Problem:
    """A piece of prose that breaks a rule."""

    path: Path
    line: int
    message: str
    #: Whether it is waived while the package has problems pending.
    is_pending: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.message}"


def problems_of(prose: Prose, *, is_record: bool = False) -> Iterator[str]:
    """What is wrong with a piece of prose, in words."""
    for pattern, instead in _PHRASES.items():
        found = pattern.search(prose.text)
        if found:
            yield f"{found[0].strip()!r} is a riddle; say it plainly: {instead}"
    if prose.is_first and _RIDDLE.match(prose.text):
        yield f"the docstring begins with {prose.text.split()[0]!r}; begin with a noun or a verb"
    if not is_record:
        # In the text of an error, each line stands by itself.
        parts = prose.text.splitlines() if prose.kind == "message" else [prose.text]
        for sentence in (each for part in parts for each in sentences(part)):
            count = words(sentence)
            if count > LONGEST_SENTENCE:
                yield f"a sentence of {count} words, the limit is {LONGEST_SENTENCE}: {sentence[:70]} …"


def pages() -> list[Path]:
    """The pages that people read."""
    docs = ROOT / "docs"
    # The build makes these pages of schemas and docstrings; the latter are checked where they are written.
    made = (
        docs / "_build",
        docs / "reference" / "api",
        docs / "reference" / "operators",
        docs / "how-to" / "generated",
    )
    found = [*ROOT.glob("*.md"), *docs.rglob("*.md")]
    return sorted(each for each in found if not any(each.is_relative_to(folder) for folder in made))


def modules() -> list[Path]:
    """The modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def pending_name(path: Path) -> str:
    """The name that a file is counted by in `PENDING`: of a module its package, of a page the page or its folder."""
    if path.suffix == ".py":
        return path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    page = str(path.relative_to(ROOT))
    return next((each for each in PENDING if page.startswith(each)), page)


def exported() -> set[tuple[Path, str]]:
    """What packages export, as the module and the name: what users import, and what they get back."""
    found: set[tuple[Path, str]] = set()
    for path in PACKAGE.rglob("__init__.py"):
        for module, name in exported_names(path.read_text(encoding="utf-8")):
            found.add((ROOT / "src" / f"{module.replace('.', '/')}.py", name))
    return found


def is_binding(prose: Prose, path: Path, names: set[tuple[Path, str]]) -> bool:
    """Whether a piece of prose holds to the rules now, and not when its package is rewritten."""
    if prose.kind == "page":
        return pending_name(path) not in PENDING
    if prose.kind == "message":
        return True
    if not prose.owner:
        return path.name == "__init__.py"
    parts = prose.owner.split(".")
    return (path, parts[0]) in names and not any(each.startswith("_") for each in parts)


def all_problems(paths: Iterable[Path]) -> Iterator[Problem]:
    """The problems of pages and modules."""
    names = exported()
    for path in paths:
        is_record = str(path.relative_to(ROOT)) in RECORDS
        for prose in read_file(path):
            for message in problems_of(prose, is_record=is_record):
                yield Problem(path, prose.line, message, not is_binding(prose, path, names))


def main(arguments: list[str]) -> int:
    """Print the problems; 1 where there are any that are not pending."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pending", action="store_true", help="list what packages still have to rewrite")
    parser.add_argument("package", nargs="?", help="with --pending: list only this one")
    options = parser.parse_args(arguments)
    found = list(all_problems([*pages(), *modules()]))
    pending = [each for each in found if each.is_pending]
    if options.pending:
        for each in pending:
            if options.package in (None, pending_name(each.path)):
                print(each)
        return 0
    errors = [str(each) for each in found if not each.is_pending]
    counts = Counter(pending_name(each.path) for each in pending)
    for name in sorted({*counts, *PENDING}):
        allowed = PENDING.get(name, 0)
        if counts[name] > allowed:
            errors.append(
                f"{name}: {counts[name]} places break the rules, {allowed} did; list them with --pending {name}"
            )
        elif counts[name] < allowed:
            errors.append(
                f"{name}: {counts[name]} places break the rules, and PENDING says {allowed}; lower it there"
            )
    for each in errors:
        print(each)
    print(f"english: {len(errors) or 'no'} problems, {len(pending)} places pending")
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
