"""Shared foundations: types, validation, nearest neighbours, progress and resource limits."""
