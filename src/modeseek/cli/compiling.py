"""Compilation on several cores: helper processes store functions in Numba's disk cache, and this process loads them.

Numba compiles one function at a time in a process. The command needs functions in the order of a list, and compiles
those that are not in the cache. At the same time, helpers compile the functions of this list from its end.
"""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from modeseek._common.helper_processes import helper_processes

# functions that ModeSeek compiles for a small table, in order; `benchmarks/first_call.py --functions` writes the file
FUNCTIONS = Path(__file__).with_name("compiled_functions.txt")
# with more helpers, imports would take most of the time
MOST_HELPERS = 2


def compiling_helpers() -> AbstractContextManager[object]:
    """Return a context in which helpers compile the functions of ModeSeek, unless the disk cache already has them."""
    from joblib import cpu_count

    helpers = min(cpu_count() - 1, MOST_HELPERS)
    if helpers < 1:
        return nullcontext()
    from modeseek._common.jit import compile_listed, listed_function

    lines = FUNCTIONS.read_text().splitlines()[::-1]
    if listed_function(lines[0])[0].stored:
        return nullcontext()
    code = f"from {compile_listed.__module__} import compile_listed; compile_listed({{!r}})"
    return helper_processes([code.format(lines[each::helpers]) for each in range(helpers)])
