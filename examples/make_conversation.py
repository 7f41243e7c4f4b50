"""Make `conversation.npz` and `conversation.rttm` from embeddings of windows of read speech.

    python examples/make_conversation.py SPEECH.npz examples/

SPEECH.npz has the arrays `X` (n, 256), `y` (speaker), `utt` (utterance) and `label_names` for consecutive windows of
1.6 s. Five speakers take turns, and each turn is an utterance. Turns are 0.4 s apart. Every second pause is silent; the
others are short windows in which both speakers talk: their embedding is the sum of those before and after, and the
reference assigns them to the second speaker. See examples/README.md for source and licence.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from modeseek.diarization.rttm import rttm_lines
from modeseek.diarization.turns import Turn

# seconds
WINDOW = 1.6
PAUSE = 0.4
# number of utterances of each speaker
UTTERANCES = (8, 6, 4, 2, 1)


def main(source: str, folder: str) -> None:
    """Write the two files."""
    data = np.load(source)
    rng = np.random.default_rng(0)
    speakers = rng.permutation(len(data["label_names"]))[: len(UTTERANCES)]
    said = [
        (int(speaker), utterance)
        for speaker, count in zip(speakers, UTTERANCES, strict=True)
        for utterance in rng.permutation(np.unique(data["utt"][data["y"] == speaker]))[:count]
    ]
    rows, times, turns, now = [], [], [], 0.0
    for number, (speaker, utterance) in enumerate([said[i] for i in rng.permutation(len(said))]):
        windows = np.flatnonzero(data["utt"] == utterance)
        starts = now + WINDOW * np.arange(len(windows))
        if number % 2:
            both = rows[-1][-1] + data["X"][windows[0]]
            rows.append((both / np.linalg.norm(both))[None])
            times.append(np.array([[now - PAUSE, now]]))
            now -= PAUSE
        rows.append(data["X"][windows])
        times.append(np.column_stack([starts, starts + WINDOW]))
        turns.append(Turn(now, starts[-1] + WINDOW, str(data["label_names"][speaker])))
        now = starts[-1] + WINDOW + PAUSE
    target = Path(folder)
    np.savez_compressed(
        target / "conversation.npz", X=np.concatenate(rows).astype(np.float16), times=np.concatenate(times).round(3)
    )
    (target / "conversation.rttm").write_text("".join(rttm_lines(turns, "conversation")))


if __name__ == "__main__":
    main(*sys.argv[1:])
