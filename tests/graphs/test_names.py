"""Names are handed out once, and what was handed out since a mark can be taken back."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from onnxsmith.graphs.names import Names

_WISHES = st.sampled_from(["x", "x_1", "x_2", "relu", "y"])
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("unique"), _WISHES),
        st.tuples(st.just("release"), _WISHES),
        st.tuples(st.just("reserve"), _WISHES),
        st.tuples(st.just("mark"), st.just("")),
        st.tuples(st.just("back"), st.just("")),
    ),
    max_size=40,
)


@given(_STEPS)
def test_coming_back_to_a_mark_is_as_if_nothing_had_happened_since(steps: list[tuple[str, str]]) -> None:
    names = Names()
    marks: list[tuple[int, Names]] = []
    for step, wish in steps:
        if step == "unique":
            names.unique(wish)
        elif step == "release":
            names.release(wish)
        elif step == "reserve":
            names.reserve([wish])
        elif step == "mark":
            marks.append((names.mark(), copy.deepcopy(names)))
        elif marks:
            mark, before = marks.pop()
            names.back_to(mark)
            assert names._taken == before._taken
            wishes = ["x", "x_1", "relu"]
            after = copy.deepcopy(names)
            assert [after.unique(each) for each in wishes] == [before.unique(each) for each in wishes]


@given(st.lists(_WISHES, max_size=30))
def test_no_name_is_given_twice(wishes: list[str]) -> None:
    names = Names()
    given_out = [names.unique(each) for each in wishes]
    assert len(set(given_out)) == len(given_out)
