"""Mutation testing: breaks random lines of the package one at a time, and asks which tests notice."""
