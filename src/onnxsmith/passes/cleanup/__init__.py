"""Leaving out what a model does not need: it computes the same afterwards."""
