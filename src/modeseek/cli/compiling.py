"""Compile on several cores: helper processes store functions in Numba's disk cache, and this process loads them.

Numba compiles one function at a time in a process. A helper takes the functions from the end of a list while this
process compiles those that it needs, so that both meet somewhere between.
"""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from modeseek._common.helper_processes import helper_processes

# what ModeSeek compiles for a small table, in this order; `benchmarks/first_call.py --functions` writes the file
FUNCTIONS = Path(__file__).with_name("compiled_functions.txt")


def second_compiler() -> AbstractContextManager[object]:
    """Compile functions of ModeSeek in a second process while the block runs, if they are not stored yet."""
    from joblib import cpu_count

    if cpu_count() < 2:
        return nullcontext()
    from modeseek._common.jit import compile_listed, listed_function

    lines = FUNCTIONS.read_text().split("\n")[-2::-1]
    if listed_function(lines[0])[0].stored:
        return nullcontext()
    return helper_processes([f"from {compile_listed.__module__} import compile_listed; compile_listed({lines!r})"])
