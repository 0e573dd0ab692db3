"""Modules that take the place of those of the existing tooling, under their names and with their parameters."""
