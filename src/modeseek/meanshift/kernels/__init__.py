"""Kernel profiles and the formulas of a mean-shift step."""
