"""
Timeline of speakers
====================

``plot_timeline`` of ``modeseek.diarization`` draws the turns of a recording, with one lane for each speaker. Windows
with a low confidence are faint: here, windows shorter than half a second, which are assigned to the nearest speaker.
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
# With a reference, thin strips below the lanes show the true speakers. Matching them needs pyannote.metrics. With three
# speakers instead of five, two of the true speakers have no lane.
reference = read_rttm(EXAMPLES / "conversation.rttm")["conversation"]
three = find_turns(windows.embeddings, windows.times, SpeakerSearch(num_speakers=3))
plot_timeline(three, reference=reference, title="num_speakers=3")
plt.show()
