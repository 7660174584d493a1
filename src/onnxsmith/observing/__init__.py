"""Inside a run: the values that a model computes on the way, streamed to whoever wants them, in bounded memory.

A run is made a straight line of steps: calls, branches and iterations of loops in their places. Parts of it are run,
and what they give is handed on value by value.
"""

from onnxsmith.observing.flattening import Step as Step
from onnxsmith.observing.observe import ModelInputs as ModelInputs
from onnxsmith.observing.observe import Observation as Observation
from onnxsmith.observing.observe import inputs_by_name as inputs_by_name
from onnxsmith.observing.observe import intermediate as intermediate
from onnxsmith.observing.observe import observe as observe
from onnxsmith.observing.runs import DEFAULT_MEMORY as DEFAULT_MEMORY
from onnxsmith.observing.runs import Engine as Engine
from onnxsmith.observing.runs import ObservedRun as ObservedRun
from onnxsmith.observing.runs import memory_budget as memory_budget
