"""Adapters into an older definition, by what changed; `dev.py indexes` enters a new one into `lazy_index`."""
