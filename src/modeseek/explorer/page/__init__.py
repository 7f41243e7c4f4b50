"""The page of the explorer: Panel widgets, Bokeh figures and the server. Needs the extra `explore`."""
