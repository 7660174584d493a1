"""Model to model: optimising, rewriting, converting versions, cutting and joining.

A pass never changes the model that it is given: it returns a new one that shares the weights, with a log of what became
what. `Editor` is the model that is being changed, `Worklist` applies rules to it to a fixed point.
"""
