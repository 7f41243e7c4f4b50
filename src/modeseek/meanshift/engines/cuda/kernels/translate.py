"""Translate formulas written for NumPy arrays to device functions of numbers.

On the device, a float64 literal in an expression of float32 numbers makes the result float64. The translation therefore
writes all literals in the precision of the points, and replaces NumPy's functions by those of `math`.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

MATH_FUNCTIONS = ("exp", "sqrt", "log10")
COMPARISONS = {"np.maximum": ">", "np.minimum": "<"}


class _Translator(ast.NodeTransformer):
    """Rewrites literals, constants of the module and NumPy's functions."""

    def __init__(self, constants: dict[str, float]):
        self._constants = constants

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _expression(f"REAL({node.value!r})") if isinstance(node.value, float) else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _expression(f"REAL({self._constants[node.id]!r})") if node.id in self._constants else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        comparison = COMPARISONS.get(ast.unparse(node.func))
        if comparison is None:
            return node
        # a conditional expression takes half the instructions of max(), which also handles NaN
        a, b = map(ast.unparse, node.args)
        return _expression(f"({a}) if ({a}) {comparison} ({b}) else ({b})")

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "np" and node.attr in MATH_FUNCTIONS:
            return _expression(f"math.{node.attr}")
        return node


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def translated(function: Callable[..., Any], real: type = np.float64) -> Callable[..., Any]:
    """Return a function that computes a formula for numbers, with all literals in a given precision.

    Parameters
    ----------
    function : callable
        A function of a module that uses plain arithmetic, `np.maximum`, `np.minimum` and the functions in
        `MATH_FUNCTIONS`, and calls no other function.
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
    tree = ast.fix_missing_locations(_Translator(constants).visit(tree))
    namespace: dict[str, Any] = {"math": math, "REAL": real}
    exec(compile(tree, f"<{function.__name__} for the device>", "exec"), namespace)
    return namespace[function.__name__]
