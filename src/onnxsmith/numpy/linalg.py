"""`xp.linalg`: linear algebra. A function is loaded when its name is first used."""

from onnxsmith.numpy.names import part as _part

__getattr__, __dir__ = _part("linalg")
