"""What Python's operators, indexing, conversions and numpy's methods mean on tensors, each defined once."""
