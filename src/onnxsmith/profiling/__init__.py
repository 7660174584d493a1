"""Where the time goes: ONNX Runtime's profile of a model, by line of Python, by node and by operator."""

from onnxsmith.profiling.comparison import ComparedRow as ComparedRow
from onnxsmith.profiling.comparison import ProfileComparison as ProfileComparison
from onnxsmith.profiling.kernel import Kernel as Kernel
from onnxsmith.profiling.kernel import ProfiledNode as ProfiledNode
from onnxsmith.profiling.kernel import SourceLine as SourceLine
from onnxsmith.profiling.profile import Circumstances as Circumstances
from onnxsmith.profiling.profile import Profile as Profile
from onnxsmith.profiling.quantities import Times as Times
from onnxsmith.profiling.rows import ProfileRow as ProfileRow
from onnxsmith.profiling.taking import profile as profile
