"""The explorer behind `modeseek explore`: data, settings, runs on threads, sweeps and exports.

Nothing here but `page` needs Panel or Bokeh.
"""

from modeseek.explorer.data import EXAMPLES, Data, Subject, example, from_bytes, from_file
from modeseek.explorer.live import Live
from modeseek.explorer.run import Result, Run
from modeseek.explorer.settings import ALGORITHMS, Settings, estimator_of, read_settings

__all__ = [
    "ALGORITHMS",
    "EXAMPLES",
    "Data",
    "Live",
    "Result",
    "Run",
    "Settings",
    "Subject",
    "estimator_of",
    "example",
    "from_bytes",
    "from_file",
    "read_settings",
]
