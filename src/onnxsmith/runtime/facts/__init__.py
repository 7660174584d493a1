"""The known mistakes of ONNX Runtime and of onnx's reference evaluator, by operator, and how each is avoided.

One module for each family of operators, which is imported when one of its operators is looked up. A fact says which
calls it concerns, which versions of the engine show it, and has a probe: a small model that shows it. How facts are
applied is not known here.
"""
