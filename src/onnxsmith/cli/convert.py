"""`onnxsmith convert m.onnx --opset 21 -o out.onnx`: a model in another version of its opsets."""

from __future__ import annotations

import argparse

from onnxsmith.cli.model_output import beside, check_output, made_of, write_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.passes.versions.convert import GivenVersion, convert_version


def run(options: argparse.Namespace, report: Report) -> int:
    """Convert the model and write it."""
    check_output(options, report)
    versions = _versions(options.opset)
    converted = made_of(
        options, "converting", lambda model: convert_version(model, versions, verify=options.verify)
    )
    told = converted.report
    said = {
        "file": options.model,
        "changes": [str(each) for each in told.edits],
        "verification": told.verification,
        "notes": told.notes,
    }
    domain, version = next(iter(versions.items()))
    default = beside(options.model, f"opset{converted.opset_imports.get(domain, version)}")
    return write_model(converted, options, report, default, said, str(told))


def _versions(words: list[str]) -> dict[str, GivenVersion]:
    versions: dict[str, GivenVersion] = {}
    for word in words:
        domain, _, version = word.rpartition("=")
        if version == "newest" or version == "runtime":
            versions[domain] = version
        elif version.isdecimal():
            versions[domain] = int(version)
        else:
            raise Usage(
                f"--opset takes a version, 21, newest or runtime, or one of a domain, ai.onnx.ml=3, and not {word!r}"
            )
    return versions
