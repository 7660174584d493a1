"""`If`, `Loop`, `Scan`, `SequenceMap`: outputs from what is known of the bodies' outputs."""

from __future__ import annotations

from onnxsmith.schema.inference import Known
from onnxsmith.types.value_types import OptionalType, SequenceType, TensorType
from tests.schema.inference.calls import ANY, BOOL, FLOAT, INT64, C, S, T, V, call

CONDITION = T(dtype=BOOL)


def test_if_keeps_what_both_branches_share() -> None:
    branches = {"then_branch": (T("N", 3), T(2)), "else_branch": (T("N", 4), T(2, 2))}
    first, second = call("If", CONDITION, bodies=branches, outputs=2)
    assert first.type == TensorType(FLOAT, ("N", None))
    assert second.type == TensorType(FLOAT, None)


def test_if_with_a_known_condition_is_the_branch_it_takes() -> None:
    branches = {"then_branch": (V("N", 3),), "else_branch": (T("N", 4),)}
    (chosen,) = call("If", C(True), bodies=branches)
    assert (chosen.type, chosen.data) == (TensorType(INT64, (2,)), ("N", 3))


def test_if_of_sequences_optionals_and_unknowns() -> None:
    sequence = Known(SequenceType(TensorType(FLOAT, (2,))))
    other = Known(SequenceType(TensorType(FLOAT, (3,))))
    optional = Known(OptionalType(TensorType(FLOAT, (2,))))
    branches = {"then_branch": (sequence, optional, ANY), "else_branch": (other, optional, sequence)}
    first, second, third = call("If", CONDITION, bodies=branches, outputs=3)
    assert first.type == SequenceType(TensorType(FLOAT, (None,)))
    assert second.type == optional.type
    assert third.type == ANY.type


def test_if_without_knowledge_of_its_branches_says_nothing() -> None:
    assert call("If", CONDITION)[0].type == ANY.type


def test_loop_merges_the_start_with_the_body_and_stacks_scan_outputs() -> None:
    body = (CONDITION, T("N", 4), T(), T(5))
    carried, scalar, stacked = call("Loop", S(3), None, T(2, 4), T(), bodies={"body": body}, outputs=3)
    assert carried.type == TensorType(FLOAT, (None, 4))
    assert scalar.type == TensorType(FLOAT, ())
    assert stacked.type == TensorType(FLOAT, (None, 5))


def test_a_loop_that_always_goes_on_runs_as_often_as_it_says() -> None:
    body = (C(True), T(5))
    assert call("Loop", S("N"), None, bodies={"body": body})[0].type == TensorType(FLOAT, ("N", 5))
    assert call("Loop", S("N"), C(True), bodies={"body": body})[0].type == TensorType(FLOAT, ("N", 5))
    assert call("Loop", S("N"), CONDITION, bodies={"body": body})[0].type == TensorType(FLOAT, (None, 5))
    assert call("Loop", S(-1), None, bodies={"body": body})[0].type == TensorType(FLOAT, (None, 5))


def test_scan_takes_its_length_from_what_it_scans() -> None:
    body = (T(2), T(4))
    state, stacked = call("Scan", T(2), T("S", 4), num_scan_inputs=1, bodies={"body": body}, outputs=2)
    assert (state.type, stacked.type) == (TensorType(FLOAT, (2,)), TensorType(FLOAT, ("S", 4)))
    (stacked,) = call(
        "Scan",
        T(4, "S"),
        T(4, 7),
        num_scan_inputs=2,
        scan_input_axes=(1, -1),
        scan_output_axes=(-1,),
        bodies={"body": (T(4),)},
    )
    assert stacked.type == TensorType(FLOAT, (4, 7))


def test_scan_before_opset_9_has_a_batch_axis() -> None:
    state, stacked = call(
        "Scan",
        None,
        T("B", 2),
        T("B", "S", 4),
        num_scan_inputs=1,
        bodies={"body": (T(2), T(4))},
        outputs=2,
        version=8,
    )
    assert state.type == TensorType(FLOAT, ("B", 2))
    assert stacked.type == TensorType(FLOAT, ("B", "S", 4))


def test_sequence_map_makes_sequences() -> None:
    sequence = Known(SequenceType(TensorType(FLOAT, (2,))))
    assert call("SequenceMap", sequence, bodies={"body": (T(2, 2),)})[0].type == SequenceType(
        TensorType(FLOAT, (2, 2))
    )
