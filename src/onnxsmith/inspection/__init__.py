"""Inside a model: its nodes, weights and metadata, what it computes on the way, what it costs, whether two are equal.

All of it only reads: a model is never changed by looking at it, and no weight is read before it is asked for.
"""

from onnxsmith.inspection.node import Graph as Graph
from onnxsmith.inspection.node import Node as Node
from onnxsmith.inspection.node import NodeValue as NodeValue
from onnxsmith.inspection.nodes import Nodes as Nodes
from onnxsmith.inspection.nodes import nodes as nodes
