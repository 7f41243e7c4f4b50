"""Progress: what does the work knows callbacks, never a terminal; here they become a line or a bar."""

from modeseek._common.progress.jobs import job_bar
from modeseek._common.progress.line import Line, show_line

__all__ = ["Line", "job_bar", "show_line"]
