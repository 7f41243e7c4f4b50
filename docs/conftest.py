"""What pytest leaves alone here: how the pages are built, and what building them leaves."""

collect_ignore = ["conf.py", "_extensions", "_build", "gallery", "generated"]
