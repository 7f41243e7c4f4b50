"""
Who speaks when
===============

``plot_timeline`` of ``modeseek.diarization`` draws the turns of a recording, a lane for each speaker. Windows are the
fainter the less sure they are: here those of less than half a second, which were given to the nearest speaker.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from modeseek.diarization import SpeakerSearch, find_turns, plot_timeline, read_rttm, read_windows

EXAMPLES = Path.cwd().parent
windows = read_windows(EXAMPLES / "conversation.npz")
found = find_turns(windows.embeddings, windows.times)
plot_timeline(found, title=f"{found.speakers.n_speakers} speakers")
plt.show()

# %%
# With a reference, thin strips show the truth below (this needs pyannote.metrics, which finds out who is who). Had we
# wished for three speakers, two would have nobody of their own.
reference = read_rttm(EXAMPLES / "conversation.rttm")["conversation"]
three = find_turns(windows.embeddings, windows.times, SpeakerSearch(num_speakers=3))
plot_timeline(three, reference=reference, title="Three, as wished")
plt.show()
