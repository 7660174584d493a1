"""What an editor shows of an operator: a summary, a line per parameter, its versions and a link.

Shortens the schema's own text, at the end of a sentence, and writes none of its own.
"""

from __future__ import annotations

import re
import textwrap

from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout, python_name
from onnxsmith.schema.definition import OperatorDef

_SUMMARY_WIDTH = 480
_PARAMETER_WIDTH = 160
_LINE_WIDTH = 100

_PAGES = {
    "": "https://onnx.ai/onnx/operators/onnx__{name}.html",
    "ai.onnx.ml": "https://onnx.ai/onnx/operators/onnx_aionnxml_{name}.html",
    "ai.onnx.preview": "https://onnx.ai/onnx/operators/onnx_aionnxpreview_{name}.html",
    "ai.onnx.preview.training": "https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_{name}.html",
    "com.microsoft": "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.{name}",
}

_FENCE = re.compile(r"^\s*```")
_LIST_ITEM = re.compile(r"^\s*([-*+•]|\d+[.)])\s+")
# A full stop ends a sentence where a space and a capital, a bracket or a quote follow; "e.g. x" and "2.5" end none.
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!\bvs)[.!?][\"')\]]?(?=\s+[\"'(\[`A-Z]|$)")


def docstring(op: OperatorDef) -> str:
    """The text between the quotes."""
    parts = [summary(op.doc) or f"{op.name}."]
    described = list(_parameters(op))
    if described:
        parts.append("Args:\n" + "\n".join(described))
    parts.append(f"{history(op)}\n{_PAGES[op.domain].format(name=op.name)}")
    return "\n\n".join(parts)


def history(op: OperatorDef) -> str:
    """`Version 13, in opset 13 and later; others: 1, 11.`"""
    since, until = registry.valid_range(op)
    if until is None:
        reach = f"in opset {since} and later"
    else:
        reach = f"in opset {since}" if until == since + 1 else f"in opsets {since} to {until - 1}"
    others = [str(each) for each in registry.versions(op.domain, op.name) if each != op.since_version]
    return f"Version {since}, {reach}" + (f"; others: {', '.join(others)}." if others else ".")


def _parameters(op: OperatorDef) -> list[str]:
    lines: list[tuple[str, str]] = [(python_name(each.name), each.doc) for each in op.inputs]
    lines += [(name, each.doc) for name, each in layout(op).attribute_names.items()]
    shown: list[str] = []
    for name, text in lines:
        short = first_sentences(plain(text), _PARAMETER_WIDTH)
        if short:
            shown.append(textwrap.indent(_wrapped(f"{name}: {short}", "    "), "    "))
    return shown


def summary(text: str) -> str:
    """The first paragraphs of an operator's documentation, whole sentences only."""
    blocks = _blocks(text)
    kept: list[str] = []
    length = 0
    for position, block in enumerate(blocks):
        if kept and length + len(block) > _SUMMARY_WIDTH:
            break
        if _is_verbatim(block):
            kept.append(block)
        else:
            short = first_sentences(plain(block), _SUMMARY_WIDTH)
            if not short:
                break
            kept.append(_wrapped(short))
            if len(short) < len(plain(block)):
                break
        length += len(block)
        if position + 1 < len(blocks) and blocks[position + 1].startswith("#"):
            break
    while kept and kept[-1].endswith(":"):  # what it introduces did not fit
        kept[-1] = _wrapped(_without_last_sentence(plain(kept[-1])))
        if not kept[-1]:
            kept.pop()
    return "\n\n".join(kept)


def _wrapped(text: str, hanging: str = "") -> str:
    return textwrap.fill(
        text, _LINE_WIDTH, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )


def _blocks(text: str) -> list[str]:
    """Paragraphs, and code between fences as one block each."""
    text = re.sub(r"(?:<br\s*/?>\s*)+", "\n\n", text)
    lines = textwrap.dedent(text).strip().splitlines()
    blocks: list[list[str]] = [[]]
    in_code = False
    for line in lines:
        if _FENCE.match(line):
            if not in_code:
                blocks.append([])
            blocks[-1].append(line.strip())
            in_code = not in_code
            if not in_code:
                blocks.append([])
        elif in_code or line.strip():
            blocks[-1].append(line.rstrip())
        else:
            blocks.append([])
    return ["\n".join(block) for block in blocks if block]


def _is_verbatim(block: str) -> bool:
    """Code and lists keep their lines."""
    lines = block.splitlines()
    return block.startswith("```") or all(_LIST_ITEM.match(line) or line.startswith("  ") for line in lines)


def plain(text: str) -> str:
    """One line of text, without the markup that editors do not render."""
    text = re.sub(r"</?(?:b|br|code|dd|dl|dt|i|li|p|pre|ul)\s*/?>", " ", text)
    text = re.sub(
        r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text
    )  # a link that is relative to ONNX's own pages
    return " ".join(text.split())


def first_sentences(text: str, width: int) -> str:
    """As many whole sentences as fit, at least one."""
    if len(text) <= width:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    fitting = [end for end in ends if end <= width]
    if fitting:
        return text[: fitting[-1]]
    return text[: ends[0]] if ends else text


def _without_last_sentence(text: str) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if match.end() < len(text)]
    return text[: ends[-1]] if ends else ""
