"""Run operators at once: kept sessions of ONNX Runtime, function bodies and the reference evaluator where it cannot."""

from onnxsmith.eager.engine import clear_cache as clear_cache
from onnxsmith.eager.model_session import load_session as load_session
from onnxsmith.eager.settings import Settings as Settings
from onnxsmith.eager.settings import using as using
