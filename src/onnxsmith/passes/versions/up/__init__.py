"""Adapters into a newer definition, by what changed; `dev.py indexes` enters a new one into `lazy_index`."""
