"""Functions of installed packages that nobody wrote for ONNX, chosen by a rule, and whether they become models.

`rule` makes the list, `inputs` what the functions are called with, `functions.json` is the list, `run` asks for models.
"""
