"""Converters, one file for each family of estimators; `dev.py indexes` enters a new one into `lazy_index`."""
