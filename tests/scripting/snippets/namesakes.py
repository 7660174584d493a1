"""Functions whose names other modules use, too."""

from onnxsmith import script


@script
def square(x):
    return x * x * 100
