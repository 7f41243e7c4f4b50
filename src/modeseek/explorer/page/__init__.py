"""The explorer's page: Panel's widgets, Bokeh's figures and the server. Only this part needs the extra `explore`."""
