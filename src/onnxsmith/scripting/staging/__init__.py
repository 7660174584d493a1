"""Carries out the statements of a script on values that only the model knows."""
