"""The costs of nodes: operations by formulas over shapes, and memory by how long values live.

Knows no form of models: whoever has nodes with types can ask, and importing it is cheap.
"""

from onnxsmith.costs.counting import Counting as Counting
from onnxsmith.costs.counting import weight_of as weight_of
from onnxsmith.costs.counts import Count as Count
from onnxsmith.costs.flops import has_formula as has_formula
from onnxsmith.costs.flops import is_control_flow as is_control_flow
from onnxsmith.costs.flops import operators_counted as operators_counted
from onnxsmith.costs.nodes import CostlyGraph as CostlyGraph
from onnxsmith.costs.nodes import CostlyNode as CostlyNode
from onnxsmith.costs.nodes import CostlyValue as CostlyValue
from onnxsmith.costs.peak import bytes_of as bytes_of
from onnxsmith.costs.peak import peak_bytes as peak_bytes
from onnxsmith.costs.peak import unknown_size as unknown_size
