"""What pytest leaves alone: how pages are built and what building leaves, and what needs an extra that is not there."""

from importlib.util import find_spec

NEED_NUMBA_CUDA = ("kernels", "launch.py", "workspace.py")

collect_ignore = [
    *(f"docs/{name}" for name in ("conf.py", "_extensions", "_build", "gallery", "generated")),
    "tests/conftest.py",  # no doctests in it, and it shares its name with this file
    *([] if find_spec("panel") else ["src/modeseek/explorer/page"]),
    *([] if find_spec("numba_cuda") else (f"src/modeseek/meanshift/engines/cuda/{name}" for name in NEED_NUMBA_CUDA)),
]
