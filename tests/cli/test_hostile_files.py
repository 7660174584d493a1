"""The laws of bombs and of mutated files, on their first draws: no command dies, hangs or shows a traceback."""

from __future__ import annotations

from itertools import islice

from tests.cli import mutation_law
from tests.cli.bomb_law import verdicts_on
from tests.cli.bombs.catalogue import BOMBS

#: Bombs that some command died of, hung on or took for a model before, and the commands that did. All others are for
#: `dev.py laws bombs`.
CHOSEN = {
    "loop_that_adds_one": ["optimize", "optimize --unroll"],
    "doubled_sixty_times": ["convert down", "optimize"],
    "weight_of_2_to_the_93": ["convert up", "view", "optimize", "info"],
    "weight_of_nothing_and_giants": ["info --weights", "view"],
    "sparse_weight_out_of_its_size": ["info", "outline"],
    "functions_that_call_each_other": ["convert down", "optimize", "view", "outline"],
    "functions_that_double_forty_times": ["profile"],
    "functions_in_a_long_chain": ["convert down"],
    "functions_that_double_in_branches": ["convert down", "view as a picture"],
    "function_of_one_name_twice": ["optimize"],
    "slice_of_a_declared_size_below_zero": ["check", "optimize"],
    "slice_behind_a_window_that_is_too_large": ["check", "check --runtime", "optimize", "profile"],
    "external_data_at_a_word": ["check"],
    "input_of_many_dimensions": ["profile"],
    "long_name_of_an_operator": ["compare"],
    "polynomial_of_a_size": ["optimize"],
    "loop_that_omits_its_state": ["run", "compare", "profile"],
    "spectrum_of_empty_frames": ["optimize", "run"],
    "operators_on_inputs_without_a_type": ["optimize", "run"],
    "split_that_omits_a_part": ["run", "check --runtime", "optimize --verify"],
}
DRAWS = 24


def test_bombs() -> None:
    chosen = {BOMBS[name]: commands for name, commands in CHOSEN.items()}
    wrong = [each.text for each in verdicts_on(chosen.items()) if each.kind == "wrong"]
    assert wrong == []


def test_mutated_files() -> None:
    wrong = [each.text for each in islice(mutation_law.verdicts(0), DRAWS) if each.kind == "wrong"]
    assert wrong == []
