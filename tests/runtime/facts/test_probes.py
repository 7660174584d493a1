"""Every fact is one: a bare session shows it, and the model that was adapted to the runtime does not."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from onnx import parser

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import Refused, adapt, checks_at_once
from onnxsmith.runtime.facts import fact as table
from onnxsmith.runtime.facts.fact import Check, Fact, Probe, Refusal
from onnxsmith.runtime.facts.gating import failed_check
from onnxsmith.types.dtypes import DType
from tests.laws.bare_session import BareProcess
from tests.runtime.facts.probing import as_function, is_right, probe_of, with_constants

#: The engine's version decides which facts are applied at all.
HERE = onnxruntime_api.version()
FACTS = [each for facts in table.FACTS.values() for each in facts]
PROBED = [fact for fact in FACTS if fact.probe is not None and fact.holds_for(HERE)]
REFUSED = [fact for fact in PROBED if isinstance(fact.remedy, Refusal)]
ADAPTED = [fact for fact in PROBED if not isinstance(fact.remedy, Refusal)]
OF_OTHERS = [fact for fact in FACTS if fact.probe is not None and not fact.holds_for(HERE)]


@pytest.fixture(scope="module")
def bare() -> Iterator[BareProcess]:
    process = BareProcess()
    yield process
    process.close()


@pytest.mark.parametrize("fact", PROBED, ids=lambda fact: fact.name)
def test_a_bare_session_shows_it(fact: Fact, bare: BareProcess) -> None:
    probe = probe_of(fact)
    model = parser.parse_model(probe.text)
    outcome = bare.ask(model.SerializeToString(), probe.inputs, timeout=30)
    assert not is_right(outcome, probe), (
        f"ONNX Runtime {HERE} no longer shows this: close the range of versions"
    )


@pytest.mark.parametrize("fact", OF_OTHERS, ids=lambda fact: fact.name)
def test_a_version_outside_its_range_does_not(fact: Fact, bare: BareProcess) -> None:
    """It is right, or refuses the model: then another form of the model or another engine is asked."""
    probe = probe_of(fact)
    outcome = bare.ask(parser.parse_model(probe.text).SerializeToString(), probe.inputs, timeout=30)
    assert is_right(outcome, probe) or outcome.kind == "error", (
        f"ONNX Runtime {HERE} shows this: widen the range of versions"
    )


#: What everyday models have: inputs, outputs and a node.
ORDINARY = [
    ("float[N, 3, H, W] x", "float[N,3,A,B] y", "y = GlobalAveragePool(x)"),
    ("float[N, 3, H, W, D] x", "float[N,3,A,B,C] y", "y = GlobalMaxPool(x)"),
    ("float[N, 3, H, W] x", "float[N,3,A,B] y", "y = MaxPool <kernel_shape=[2,2], strides=[2,2]>(x)"),
    ("float[N, 3, H, W] x", "float[N,3,A,B] y", "y = AveragePool <kernel_shape=[2,2]>(x)"),
    ("float[N, 3, H, W] x, float[4,3,3,3] w", "float[N,3,A,B] y", "y = Conv <pads=[1,1,1,1]>(x, w)"),
    ("float[N, 3] x", "float[N,3] y", "y = Softmax <axis=-1>(x)"),
    ("float[N, 3] x, float[3,4] w", "float[N,4] y", "y = MatMul(x, w)"),
    ("float[N, 3] x, float[3,4] w, float[4] b", "float[N,4] y", "y = Gemm(x, w, b)"),
    ("float[N, 3] x, float[3] w, float[3] b", "float[N,3] y", "y = LayerNormalization(x, w, b)"),
    ("float[N, 3] x, float[3] w", "float[N,3] y", "y = BatchNormalization(x, w, w, w, w)"),
    ("float[N, 3] x, int64[K] i", "float[K,3] y", "y = Gather(x, i)"),
    ("float[N, 3] x, float a, float b", "float[N,3] y", "y = Clip(x, a, b)"),
    ("float[N, 3] x, int64[1] a, int64[1] b", "float[M,3] y", "y = Slice(x, a, b)"),
    ("float[N, 3] x, int64[4] p", "float[M,K] y", "y = Pad(x, p)"),
    ("float[N, 3, H, W] x, float[4] s", "float[N,3,A,B] y", "y = Resize(x, , s)"),
    ("float[N, 3] x", "float[N,1] y", "y = ReduceMean <keepdims=1>(x)"),
    ("float[N, 9] x", "float[N,K] y", "y = Erf(x)"),
    ("bool[N] c, float[N, 9] x, float[N, 9] z", "float[N,K] y", "y = Where(c, x, z)"),
    ("float[N, 4, T, 9] q, float[N,4,T,9] k", "float[a,b,c,d] y", "y = Attention(q, k, k)"),
    ("float[N, 4, T, 9] x, float[N,5,5,2] k", "float[a,b,c,d] y", "y = GridSample(x, k)"),
    ("float[N, 4] x, float[4,5] k", "float[a,b] y", 'y = Einsum <equation="ij,jk->ik">(x, k)'),
    ("float[N, 4] x, float[M,4] k", "float[a,b] y", "y = Concat <axis=0>(x, k)"),
    ("float[N, 4] x, int64[K,1] i, float[K,4] u", "float[a,b] y", "y = ScatterND(x, i, u)"),
    ("float[N, 4] x", "float[a,b] y", "y = Trilu(x)"),
    ("float[N, 4] x, float s, uint8 z", "uint8[a,b] y", "y = QuantizeLinear(x, s, z)"),
    ("float[N, 4, K] x, float[4] w", "float[a,b,c] y", "y = GroupNormalization <num_groups=2>(x, w, w)"),
    ("float[N, 4, H, W] x", "float[a,b,c,d] y", "y = DepthToSpace<blocksize=2>(x)"),
    ("int64[N] x, int64 d, float[2] v", "float[a,b] y", "y = OneHot(x,d,v)"),
    ("float[N] x, float[N] d", "float[a] y", "y = Mod<fmod=1>(x,d)"),
    ("float[N] x, float[N] d", "float[a] y", "y = Pow(x,d)"),
]


@pytest.mark.parametrize(("inputs", "outputs", "node"), ORDINARY)
def test_ordinary_nodes_cost_nothing(inputs: str, outputs: str, node: str) -> None:
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 23]> g ({inputs}) => ({outputs}) {{ {node} }}'
    )
    adapted = adapt(model, HERE)
    assert not adapted.edits
    assert adapted.model.graph.node == model.graph.node


@pytest.mark.parametrize("kind", ["Average", "Max"])
def test_a_rank_that_is_known_needs_no_branch(kind: str) -> None:
    text = f"g (float[N, C, A, B, D, E] x) => (float[N, C, F, G, H, I] y) {{ y = Global{kind}Pool(x) }}"
    adapted = adapt(parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23]> {text}'), HERE)
    assert "If" not in {node.op_type for node in adapted.model.graph.node}
    assert adapted.edits


@pytest.mark.parametrize("fact", REFUSED, ids=lambda fact: fact.name)
def test_a_refusal_refuses(fact: Fact) -> None:
    with pytest.raises(Refused):
        adapt(parser.parse_model(probe_of(fact).text), HERE)


@pytest.mark.parametrize("fact", ADAPTED, ids=lambda fact: fact.name)
def test_the_adapted_model_does_not(fact: Fact, bare: BareProcess) -> None:
    probe = probe_of(fact)
    adapted = adapt(parser.parse_model(probe.text), HERE)
    # Several facts about one node are one change.
    met = {rule for edit in adapted.edits for rule in edit.rule.split(", ")}
    assert fact.name in met or probe.right is None
    if "[]" not in probe.graph:  # the checker insists on ranks
        onnx.checker.check_model(adapted.model)
    outcome = bare.ask(adapted.model.SerializeToString(), probe.inputs, timeout=30)
    assert is_right(outcome, probe), outcome
    if outcome.kind == "error" and fact.name in met and isinstance(fact.remedy, Check):
        check = failed_check(outcome.text)
        assert check is not None
        assert check.operator == fact.operator


@pytest.mark.parametrize("fact", ADAPTED, ids=lambda fact: fact.name)
def test_the_adapted_model_does_not_when_it_is_a_function(fact: Fact, bare: BareProcess) -> None:
    probe = probe_of(fact)
    adapted = adapt(as_function(parser.parse_model(probe.text)), HERE)
    outcome = bare.ask(adapted.model.SerializeToString(), probe.inputs, timeout=30)
    assert is_right(outcome, probe), outcome


@pytest.mark.parametrize("is_function", [False, True], ids=["graph", "function"])
@pytest.mark.parametrize("node", ["Identity", None], ids=["behind a node", "plain"])
@pytest.mark.parametrize("fact", ADAPTED, ids=lambda fact: fact.name)
def test_the_adapted_model_does_not_when_its_inputs_are_constants(
    fact: Fact, node: str | None, is_function: bool, bare: BareProcess
) -> None:
    """A runtime works out what follows from constants when it loads a model, in branches that are not taken, too."""
    probe = probe_of(fact)
    model = parser.parse_model(probe.text)
    model = with_constants(as_function(model) if is_function else model, probe, node)
    adapted = adapt(model, HERE)
    outcome = bare.ask(adapted.model.SerializeToString(), {}, timeout=30)
    assert is_right(outcome, probe), outcome
    if outcome.kind == "error":  # a check, or what the runtime itself finds when it loads the model
        assert failed_check(outcome.text) is not None or "Gather" not in outcome.text, outcome.text


def test_names_are_told_apart() -> None:
    names = [fact.name for fact in FACTS]
    assert len(set(names)) == len(names)


def test_facts_end_with_their_versions() -> None:
    fact = PROBED[0]
    assert fact.holds_for(HERE)
    assert not fact.holds_for((1, 2))
    ended = Fact(fact.name, fact.operator, fact.reason, fact.remedy, last="1.25")
    assert ended.holds_for((1, 25))
    assert not ended.holds_for((1, 26))


def test_checks_on_arrays_are_for_their_element_types() -> None:
    old = (1, 24)
    assert checks_at_once(table.facts_of(("", "Div"), old), DType.INT8)
    assert not checks_at_once(table.facts_of(("", "Div"), old), DType.FLOAT), "a float has a quotient over 0"


def test_a_seed_in_an_old_opset_is_refused() -> None:
    probe = Probe("g (float[N] x) => (float[N] y) { y = RandomUniformLike<seed = 1.0>(x) }", opset=9)
    with pytest.raises(Refused, match="with a seed"):
        adapt(parser.parse_model(probe.text), HERE)
