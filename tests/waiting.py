"""How long tests wait for another process or thread."""

# seconds; only what hangs takes as long, even on a machine with many busy processes
PATIENCE = 900
