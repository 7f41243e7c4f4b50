"""What pytest leaves alone: how pages are built and what building leaves, and what needs an extra that is not there."""

from importlib.util import find_spec

OF_THE_GPU = (
    "cells",
    "certificate",
    "chains_kernel",
    "device",
    "layout",
    "many",
    "moves",
    "policies",
    "sums",
    "workspace",
)

collect_ignore = [
    *(f"docs/{name}" for name in ("conf.py", "_extensions", "_build", "gallery", "generated")),
    "tests/conftest.py",  # no doctests in it, and it shares its name with this file
    *([] if find_spec("panel") else ["src/modeseek/explorer/page"]),
    *([] if find_spec("numba_cuda") else (f"src/modeseek/meanshift/engines/cuda/{name}.py" for name in OF_THE_GPU)),
]
