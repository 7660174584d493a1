"""The meaning of Python's operators, indexing, conversions and numpy's methods on tensors, each defined once."""
