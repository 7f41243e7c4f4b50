"""Progress display: library code passes `Stage` values to a callable; this package turns them into a line of text."""

from modeseek._common.progress.display import show_progress
from modeseek._common.progress.jobs import job_bar
