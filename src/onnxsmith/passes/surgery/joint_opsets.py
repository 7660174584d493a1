"""The opsets of two models that become one: a model has one version of each domain, so one of the two is converted.

That is the one of the older version, or where it has no form in the newer one, the other. A warning says so.
"""

from __future__ import annotations

from onnxsmith.errors import OpsetConflictError, VersionConversionError
from onnxsmith.graphs.opsets import warn_of_conversion
from onnxsmith.graphs.rewriting.scopes import roots_of
from onnxsmith.graphs.version_converter import version_converter
from onnxsmith.passes.surgery.holding import ModelContent
from onnxsmith.schema import registry
from onnxsmith.source import caller_span

_ORDER = ("first", "second")


def in_one_opset(first: ModelContent, second: ModelContent) -> tuple[ModelContent, ModelContent]:
    """The two models with the same version of every domain that both import; one that had another is a copy.

    Raises OpsetConflictError with the reasons where neither can be converted.
    """
    models = [_by_one_name(each) for each in (first, second)]
    for domain in models[0].ir.opset_imports:
        versions = [each.ir.opset_imports.get(domain) for each in models]
        ours, theirs = versions
        if ours is not None and theirs is not None and ours != theirs:
            _agree(models, domain, (ours, theirs))
    return models[0], models[1]


def _by_one_name(held: ModelContent) -> ModelContent:
    """`ai.onnx` is another name of the domain of no name."""
    if "ai.onnx" not in held.ir.opset_imports:
        return held
    return ModelContent(version_converter()(held.ir, {}), dict(held.special))


def _agree(models: list[ModelContent], domain: str, versions: tuple[int, int]) -> None:
    """Bring the models to one of the two versions of a domain, in place of the list."""
    called = domain or "ai.onnx"
    older = int(versions[1] < versions[0])
    reasons: list[str] = []
    for moved in (older, 1 - older):
        held, wanted = models[moved], versions[1 - moved]
        try:
            models[moved] = _moved(held, domain, wanted)
        except VersionConversionError as error:
            reasons.append(f"the {_ORDER[moved]} model in version {wanted}: {error.message}")
            continue
        warn_of_conversion(
            f"the {_ORDER[moved]} model is of {called} {versions[moved]}, and was converted to {wanted} to be joined",
            caller_span(),
        )
        return
    raise OpsetConflictError(
        f"the first model imports {called} {versions[0]}, and the second {called} {versions[1]}",
        help="a model has one version of a domain. " + "\n".join(reasons),
    )


def _moved(held: ModelContent, domain: str, version: int) -> ModelContent:
    """A copy of a model in another version of a domain."""
    if registry.is_known_domain(domain):
        return ModelContent(version_converter()(held.ir, {domain: version}), dict(held.special))
    foreign = _foreign(held, domain)
    if foreign:
        raise VersionConversionError(f"nobody knows the versions of {', '.join(foreign)}")
    result = held.copy()
    result.ir.opset_imports[domain] = version
    return result


def _foreign(held: ModelContent, domain: str) -> list[str]:
    """The operators of a domain that a model uses and does not define: what others they are is not known."""
    parts = roots_of(held.ir)
    nodes = (node for part in parts for node in part.all_nodes() if node.domain == domain)
    return sorted(
        {f"{domain}.{node.op_type}" for node in nodes if node.op_identifier() not in held.ir.functions}
    )
