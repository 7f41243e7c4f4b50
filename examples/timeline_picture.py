"""Draw the figure of docs/how-to-speakers.md: the turns of the example conversation and its reference.

python examples/timeline_picture.py docs/images/speakers.png
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

from modeseek.diarization import find_turns, plot_timeline, read_rttm, read_windows, score

HERE = Path(__file__).parent


def main(path: str) -> None:
    """Find the turns, print the scores against the reference, and draw both."""
    windows = read_windows(HERE / "conversation.npz")
    found = find_turns(windows.embeddings, windows.times, uri="conversation")
    reference = read_rttm(HERE / "conversation.rttm")["conversation"]
    print(score(found, reference))
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    plot_timeline(found, reference=reference, ax=figure.subplots(), title="Who speaks when")
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1])
