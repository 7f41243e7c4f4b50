"""Formulas for the device, from the text that NumPy runs.

A compiler takes a literal 1.0 for a double, and a double beside a single makes the sum a double. So literals are
written anew in the precision of the points, and NumPy's functions become those of numbers. Nothing else changes.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["translated"]

OF_NUMBERS = {
    "exp": "math.exp",
    "sqrt": "math.sqrt",
    "log10": "math.log10",
}


class _ForNumbers(ast.NodeTransformer):
    """Rewrites literals, the module's constants and NumPy's functions."""

    def __init__(self, constants: dict[str, float]):
        self._constants = constants

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _real(node.value) if isinstance(node.value, float) else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _real(self._constants[node.id]) if node.id in self._constants else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        # no function: one that minds NaN takes twice the instructions
        comparison = {"np.maximum": ">", "np.minimum": "<"}.get(ast.unparse(node.func))
        if comparison is None:
            return node
        a, b = map(ast.unparse, node.args)
        return ast.parse(f"({a}) if ({a}) {comparison} ({b}) else ({b})", mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr in OF_NUMBERS:
            return ast.parse(OF_NUMBERS[node.attr], mode="eval").body
        return node


def _real(value: float) -> ast.expr:
    return ast.parse(f"REAL({value!r})", mode="eval").body


def translated(function: Callable[..., Any], real: type = np.float64) -> Callable[..., Any]:
    """Return the function of numbers that a formula is, with its literals in a given precision.

    Parameters
    ----------
    function : callable
        A function of a module, in plain arithmetic and the functions in `OF_NUMBERS`, that calls no other.
    real : type
        `np.float32` or `np.float64`.

    Examples
    --------
    >>> from modeseek.meanshift.kernels.formulas import biweight_shape
    >>> translated(biweight_shape, np.float32)(np.float32(0.25))
    np.float32(0.75)
    """
    constants = {name: value for name, value in function.__globals__.items() if isinstance(value, float)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    if ast.get_docstring(definition) is not None:
        del definition.body[0]
    tree = ast.fix_missing_locations(_ForNumbers(constants).visit(tree))
    space: dict[str, Any] = {"math": math, "REAL": real}
    exec(compile(tree, f"<{function.__name__} for the device>", "exec"), space)  # our own text, from our own file
    return space[function.__name__]
