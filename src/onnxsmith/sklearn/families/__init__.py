"""Converters, one file for each family of estimators; `homes` knows which file has which class."""
