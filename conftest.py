"""Without Panel, which is an extra, there is nothing to collect from the explorer's page."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("panel") else ["src/modeseek/explorer/page"]
