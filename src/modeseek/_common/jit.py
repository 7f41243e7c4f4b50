"""Compilation with Numba: options, the disk cache, and a notice while code compiles.

This module imports Numba, which takes about a second. Import it only from modules of compiled functions, and import
these modules only inside the functions that call them.
"""

import gc
import inspect
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, typeof, types
from numba.core import event
from numba.core.caching import FunctionCache, NullCache
from numba.core.errors import TypingError
from numba.core.options import DefaultOptions
from numba.extending import intrinsic

# Sums may be reordered, which allows vector instructions; NaN and infinity keep their meaning.
FAST_MATH: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}

# Turns off reference counting, by a private option of Numba, in functions that allocate no arrays. Counting can take
# longer there than the computation.
NO_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}

# Leaves out the entry point for `call_address`, which few functions need. Small functions then compile in 90 % of the
# time.
NO_C_ENTRY: dict[str, Any] = {"no_cfunc_wrapper": True} if hasattr(DefaultOptions, "no_cfunc_wrapper") else {}
C_ENTRY: dict[str, Any] = dict.fromkeys(NO_C_ENTRY, False)
# Leaves out all entry points, for functions that only compiled code calls.
NO_ENTRIES: dict[str, Any] = NO_C_ENTRY | {"no_cpython_wrapper": True}
# Parts of other functions, which LLVM inlines.
INLINED: Any = FAST_MATH | NO_REFERENCE_COUNTS | NO_ENTRIES | {"forceinline": True}

# Compilations less than this many seconds apart are announced by one line.
ANNOUNCEMENT_PAUSE = 10.0


class CompiledFunction:
    """A compiled function for callers in Python, which passes on exceptions such as `KeyboardInterrupt`.

    Numba runs some Python code to build the arrays that a function returns. If a signal handler raises an exception
    there, Numba raises a `SystemError` with this exception as its cause. This class raises the original exception.

    Parameters
    ----------
    function : callable
        A function compiled by `numba.njit`.
    """

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except SystemError as error:
            original: BaseException = error
            while isinstance(original, SystemError) and original.__cause__ is not None:  # one level for each array
                original = original.__cause__
            raise original from None

    @property
    def py_func(self) -> Callable[..., Any]:
        """The Python function that was compiled."""
        return self.function.py_func

    @property
    def stored(self) -> bool:
        """Whether the disk cache has code of this function; also True if there is no disk cache."""
        try:
            return bool(self.function._cache._cache_file._load_index())
        except Exception:
            return True


class FaultTolerantCache(FunctionCache):
    """Numba's disk cache. If it cannot be read or written, code is compiled without it.

    A killed process or a full disk can leave damaged files. Reading them can raise any exception.
    """

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the stored code. If it is damaged, empty the cache of this function and return None.

        The argument types are compared, because two processes that store code for different types at the same time
        may write to the same file.
        """
        try:
            found = super().load_overload(signature, target_context)
            if found is None or found.signature.args == tuple(getattr(signature, "args", signature)):
                return found
        except Exception:
            pass
        with suppress(Exception):
            self.flush()
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store compiled code if possible; refuse a function that returns a named tuple.

        If a signal handler raises an exception while Numba builds a named tuple, Numba calls a null pointer and the
        process crashes.
        """
        if isinstance(data.signature.return_type, types.BaseNamedTuple):
            raise TypeError(f"{data.signature}: return a plain tuple, because Ctrl-C would end the process.")
        with suppress(Exception):
            super().save_overload(signature, data)


def cached(function: Callable[..., Any], *modules: ModuleType, **options: Any) -> CompiledFunction:
    """Compile a function at its first call, and store the result in Numba's disk cache.

    Numba notices changes only in the file of the function. The name of the compiled function therefore contains a
    checksum of all modules that it is built from. Without a writable cache folder, each process compiles the function.

    Parameters
    ----------
    function : callable
        A top-level function of a module, or a closure over numbers. A closure over compiled functions cannot be cached.
    *modules : module
        Other modules whose functions or constants the function uses.
    **options
        Options of `numba.njit`, in addition to `FAST_MATH`.

    Returns
    -------
    CompiledFunction
        For calls from Python. Compiled code can only call functions compiled by `numba.njit` itself.
    """
    own = sys.modules[__name__], sys.modules[function.__module__]
    function.__qualname__ += f"_{source_checksum(*own, *modules)}"
    options = FAST_MATH | NO_C_ENTRY | options
    dispatcher = njit(**options)(function)
    with suppress(RuntimeError):  # no cache folder is writable
        dispatcher._cache = FaultTolerantCache(function)
    return CompiledFunction(dispatcher)


def cached_loop(function: Callable[..., Any], *modules: ModuleType) -> CompiledFunction:
    """Compile, as `cached` does, a function that allocates no arrays. Compilation takes a third of the time.

    The caller passes arrays for results and for temporary values. The parameters are those of `cached`.
    """
    return cached(function, *modules, **NO_REFERENCE_COUNTS)


def loop_part(function: Callable[..., Any]) -> Any:
    """Mark a function that loops of `cached_loop` call as a part of them.

    Numba inlines it before LLVM optimises the loop. LLVM would optimise the code of a called function once more, and
    sums would have other rounding errors in a process that loads the loop from the disk cache.
    """
    return njit(inline="always")(function)


@intrinsic
def prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Load the cache line of an element of a contiguous array, given its place in the flattened array.

    Only compiled code can call this function. Nothing happens if the place is outside the array.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.PointerType(ir.IntType(8)))
        number = ir.IntType(32)
        load = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        llvm = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), load)
        builder.call(llvm, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def inlined(function: Callable[..., Any]) -> Any:
    """Mark a function without allocations that compiled functions call as a part of them.

    Like `loop_part`, but LLVM inlines it. Numba compiles it only once, which takes less time for a long function that
    is called in several places.
    """
    return njit(**INLINED)(function)


def address_of(function: CompiledFunction, *arguments: Any) -> int:
    """Compile a function for the types of some arguments; return the address of the code, for `call_address`.

    The function must have been compiled with `C_ENTRY`.
    """
    signature = tuple(map(typeof, arguments))
    function.function.compile(signature)
    compiled = function.function.overloads[signature]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)


@intrinsic
def call_address(typing_context, address, result, arguments):  # type: ignore[no-untyped-def]
    """Call the code at an address with a tuple of arguments; only compiled code can call this function.

    Arrays must be contiguous; otherwise, the types of the arguments are not checked. The type of `result` is that of
    the returned value.
    """
    if not all(_is_contiguous(kind) for kind in arguments.types):
        raise TypingError("call_address: arrays must be contiguous, because the code at the address ignores strides.")

    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        code, _, packed = values
        kinds = [context.get_value_type(kind) for kind in arguments.types]
        function = ir.FunctionType(context.get_value_type(result), kinds)
        unpacked = [builder.extract_value(packed, k) for k in range(len(kinds))]
        return builder.call(builder.inttoptr(code, function.as_pointer()), unpacked)

    return result(address, result, arguments), generate


def _is_contiguous(kind: Any) -> bool:
    """Return whether a type is no array, or a contiguous one; also for all parts of a tuple."""
    parts = getattr(kind, "types", ())  # of a tuple
    return all(map(_is_contiguous, parts)) and (not isinstance(kind, types.Array) or kind.layout == "C")


def listed_function(line: str) -> tuple[CompiledFunction, tuple[Any, ...]]:
    """Return a compiled function and the types of its arguments, from a line such as `package.module.name(f8[2], i8)`.

    `f8[2]` is a contiguous array of 64-bit floats with two dimensions, and `i8` a 64-bit integer. `Name<f8[1] i8>` is a
    named tuple, a class of the same module.
    """
    path, _, arguments = line.removesuffix(")").partition("(")
    module, _, name = path.rpartition(".")
    names = vars(import_module(module))
    found = []
    for each in arguments.split(", "):
        group, _, fields = each.removesuffix(">").rpartition("<")
        values = map(_example, fields.split(" "))
        found.append(typeof(names[group](*values) if group else next(values)))
    return names[name], tuple(found)


def _example(kind: str) -> Any:
    kind, _, dimensions = kind.removesuffix("]").partition("[")
    return np.empty((0,) * int(dimensions), kind) if dimensions else np.dtype(kind).type()


def compile_listed(lines: Iterable[str]) -> None:
    """Compile each listed function and store it in the disk cache, unless the cache has it already."""
    for line in lines:
        function, signature = listed_function(line)
        function.function.compile(signature)


def source_checksum(*modules: ModuleType) -> str:
    """Return a checksum of the source text of modules: eight hexadecimal digits."""
    total = 0
    for module in modules:
        total = zlib.crc32(inspect.getsource(module).encode(), total)
    return f"{total:08x}"


class CompilationNotice(event.Listener):
    """Print a line on standard error when Numba starts to compile code of this package, and pause garbage collection.

    Numba reports compilations only, not functions loaded from the disk cache, and only one thread compiles at a time.
    Nothing is printed unless standard error is a terminal or a notebook. Compilation creates many objects, and garbage
    collection would take a sixth of its time.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.collected_before = False
        self.ended = -ANNOUNCEMENT_PAUSE

    def on_start(self, compilation: Any) -> None:
        dispatcher = compilation.data["dispatcher"]
        if not _is_ours(dispatcher):
            return
        if self.depth == 0 and time.monotonic() - self.ended >= ANNOUNCEMENT_PAUSE:
            kept = "for this process" if isinstance(dispatcher._cache, NullCache) else "kept on disk for next time"
            self.show(f"modeseek: compiling for first use, some seconds ({kept})")
        if self.depth == 0:
            self.collected_before = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, compilation: Any) -> None:
        if _is_ours(compilation.data["dispatcher"]):
            self.depth, self.ended = self.depth - 1, time.monotonic()
            if self.depth == 0 and self.collected_before:
                gc.enable()

    def show(self, line: str) -> None:
        """Print a line if standard error is a terminal or a notebook."""
        stream = sys.stderr
        with suppress(AttributeError, OSError, ValueError):  # the stream may be None or closed
            if stream.isatty() or type(stream).__module__.startswith("ipykernel"):
                print(line, file=stream, flush=True)


def _is_ours(dispatcher: Any) -> bool:
    return str(dispatcher.py_func.__module__).partition(".")[0] == "modeseek"


NOTICE = CompilationNotice()
event.register("numba:compile", NOTICE)
