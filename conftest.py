"""Files that pytest does not collect: those that build the docs, and those that need a missing optional dependency."""

from importlib.util import find_spec

NEED_NUMBA_CUDA = ("kernels", "launch.py", "workspace.py")

collect_ignore = [
    *(f"docs/{name}" for name in ("conf.py", "_extensions", "_build", "gallery", "generated")),
    "tests/conftest.py",  # has no doctests, and its name clashes with this file
    *([] if find_spec("panel") else ["src/modeseek/explorer/page"]),
    *([] if find_spec("geopandas") else ["src/modeseek/geo.py"]),
    *([] if find_spec("numba_cuda") else (f"src/modeseek/meanshift/engines/cuda/{name}" for name in NEED_NUMBA_CUDA)),
]
