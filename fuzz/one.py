"""Fuzz one reader for a given number of seconds; `run.py` starts this script in its own process."""

from __future__ import annotations

import hashlib
import json
import logging
import resource
import sys
import tempfile
import traceback
from pathlib import Path

import atheris

# what is read in Python: branches that a guess has to find
with atheris.instrument_imports(
    include=[
        "modeseek._storage",
        "modeseek.diarization",
        "modeseek.io",
        "modeseek.meanshift.chains.checkpoint",
        "csv",
        "json",
        "gzip",
        "zipfile",
        "numpy.lib._format_impl",
        "PIL",
        "tifffile",
    ]
):
    import tifffile  # noqa: F401
    from harnesses import CORPUS, HARNESSES, attempt
    from PIL import BmpImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin  # noqa: F401

# bytes beyond those of the modules: an input that asks for more fails here as it would on a small machine
MEMORY = 2 << 30


def main(name: str, found: Path, options: list[str]) -> None:
    """Fuzz a reader; each new kind of finding is written to the folder `found`, with the input that shows it."""
    harness, seen, tally = HARNESSES[name], set(), {"inputs": 0, "taken": 0, "findings": 0}
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    path = folder / f"input{harness.suffix}"
    seeds = [each.read_bytes() for each in sorted((CORPUS / name).iterdir())]

    def one(data: bytes) -> None:
        tally["inputs"] += 1
        try:
            tally["taken"] += not attempt(harness, data, path)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = (type(error).__name__, last.filename, last.lineno)
            tally["findings"] += 1
            if kind not in seen:
                seen.add(kind)
                digest = hashlib.sha1(data).hexdigest()[:16]
                (found / f"{name}-{digest}").write_bytes(data)
                (found / f"{name}-{digest}.txt").write_text("".join(traceback.format_exception(error)))
        if tally["inputs"] % 256 == 0:
            (found / f"{name}.json").write_text(json.dumps(tally))

    def change(data: bytes, longest: int, seed: int) -> bytes:
        if harness.mutated is None or seed % 4 == 0:
            return atheris.Mutate(data, longest)
        # half of them from what is taken: of what reached new code most is refused, at an early check
        new = harness.mutated(seeds[seed // 8 % len(seeds)] if seed % 8 < 4 else data, seed)
        return atheris.Mutate(data, longest) if new is None or len(new) > longest else new

    logging.disable()  # tifffile tells the log of each tag that it does not know
    most = MEMORY + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    arguments = [sys.argv[0], *options, f"-max_len={harness.longest}", f"-artifact_prefix={found}/{name}-native-"]
    atheris.Setup(arguments, one, **({} if harness.mutated is None else {"custom_mutator": change}))
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
