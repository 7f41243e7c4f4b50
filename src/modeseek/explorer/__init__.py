"""The explorer: the local web page that `modeseek explore` serves. Only the subpackage `page` needs Panel and Bokeh."""

from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.config import ExplorerConfig
from modeseek.explorer.dataset import EXAMPLES, Dataset, from_bytes, from_file, load_example
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import ALGORITHMS, RunSettings, read_settings
from modeseek.explorer.run_thread import RunThread
