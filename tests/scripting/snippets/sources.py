"""Where functions come from: exec, cells of a notebook, strings that name the same function."""

import linecache

from onnxsmith.errors import NestingError
from tests.scripting.corpus import refused, runs, scalar, vector

_HEAD = "from onnxsmith import FLOAT, script, opset18 as op\n\n"


def _executed(source: str) -> object:
    namespace: dict[str, object] = {"__name__": "executed"}
    exec(source, namespace)
    return namespace["program"]


def _in_cell(source: str, number: int) -> object:
    file = f"ipykernel_1/{number}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


executed = runs(vector(1, 2))(_executed(_HEAD + "@script\ndef program(x: FLOAT['N']):\n    return x * 2\n"))
executed_again_under_the_same_name = runs(vector(1, 2))(
    _executed(_HEAD + "@script\ndef program(x: FLOAT['N']):\n    return x * 3\n")
)
executed_with_branch = runs(scalar(1))(
    runs(scalar(-1))(
        _executed(_HEAD + "@script\ndef program(x: FLOAT):\n    if x > 0:\n        return x\n    return -x\n")
    )
)
cell = runs(vector(1, 2))(_in_cell(_HEAD + "@script\ndef program(x: FLOAT['N']):\n    return x + 1\n", 1))
later_cell = runs(vector(1, 2))(
    _in_cell(_HEAD + "@script\ndef program(x: FLOAT['N']):\n    return x + 2\n", 2)
)
two_lambdas_on_one_line = runs(vector(1, 2))(
    _executed(_HEAD + "a, program = script(lambda x: x + 1), script(lambda x: x * 7)\n")
)
indented = runs(vector(1, 2))(
    _executed(_HEAD + "if True:\n    @script\n    def program(x: FLOAT['N']):\n        return x - 1\n")
)

_DEEP = "".join(f"{'    ' * (k + 1)}if x > {k}:\n" for k in range(30)) + "    " * 31 + "y = y + 1\n"


def _function(source: str) -> object:
    file = "<nested snippet>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, object] = {"__name__": "nested"}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]


nested_too_deeply = refused(NestingError)(
    _function(_HEAD + f"def program(x: FLOAT):\n    y = x\n{_DEEP}    return y\n")
)
