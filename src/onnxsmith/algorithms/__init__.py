"""Numerics as functions on tensors, made of operators; known to no framework."""
