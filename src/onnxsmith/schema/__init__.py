"""Operator definitions, binding of arguments, promotion of literals, and inference for one call."""
