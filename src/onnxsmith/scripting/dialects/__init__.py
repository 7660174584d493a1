"""Dialects of libraries: where the language of scripts meets their objects, each in a room of its own."""
