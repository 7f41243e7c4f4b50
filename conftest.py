"""What pytest leaves alone: how pages are built and what building leaves, and what needs an extra that is not there."""

from importlib.util import find_spec

collect_ignore = [
    *(f"docs/{name}" for name in ("conf.py", "_extensions", "_build", "gallery", "generated")),
    "tests/conftest.py",  # no doctests in it, and it shares its name with this file
    *([] if find_spec("panel") else ["src/modeseek/explorer/page"]),
]
