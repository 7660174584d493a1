"""Values and targets, and the one way to call an operator: bind, promote, infer, emit."""
