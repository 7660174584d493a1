"""Change a model node by node: what is known of a node in its place, new nodes for old ones, what became of what.

Works on protos, nested graphs and functions included, and never on weights: a model comes here without them, or with a
mapping that is only looked into. Knows no operators and no runtimes; rules come from outside.
"""
