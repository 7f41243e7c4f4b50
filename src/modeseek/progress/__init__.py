"""Progress: what does the work knows callbacks, never a terminal; here they become a line or a bar."""

from modeseek.progress.jobs import job_bar
from modeseek.progress.line import Line, show_line

__all__ = ["Line", "job_bar", "show_line"]
