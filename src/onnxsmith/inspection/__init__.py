"""Inside a model: its nodes, weights and metadata, what it costs, whether two are equal.

All of it only reads: a model is never changed by looking at it, and no weight is read before it is asked for.
"""

from onnxsmith.costs import Count as Count
from onnxsmith.inspection.attributes import plain_attribute as plain_attribute
from onnxsmith.inspection.attributes import shown_attribute as shown_attribute
from onnxsmith.inspection.equality import Equality as Equality
from onnxsmith.inspection.equality import are_same_floats as are_same_floats
from onnxsmith.inspection.equality import equals as equals
from onnxsmith.inspection.equality import is_same_graph as is_same_graph
from onnxsmith.inspection.metadata import metadata as metadata
from onnxsmith.inspection.node import Graph as Graph
from onnxsmith.inspection.node import Node as Node
from onnxsmith.inspection.node import NodeValue as NodeValue
from onnxsmith.inspection.nodes import Nodes as Nodes
from onnxsmith.inspection.nodes import nodes as nodes
from onnxsmith.inspection.nodes import nodes_of as nodes_of
from onnxsmith.inspection.summary import Summary as Summary
from onnxsmith.inspection.summary import summary as summary
from onnxsmith.inspection.weights import ModelWeights as ModelWeights
from onnxsmith.inspection.weights import WeightInfo as WeightInfo
from onnxsmith.inspection.weights import weights as weights
from onnxsmith.inspection.weights import weights_of as weights_of
