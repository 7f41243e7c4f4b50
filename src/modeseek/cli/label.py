"""The command `modeseek label`."""

from __future__ import annotations

from modeseek.cli.messages import library_errors, print_note
from modeseek.cli.options import LabelOptions
from modeseek.cli.screen import make_console, print_written
from modeseek.pipeline import label_file


def run(options: LabelOptions) -> None:
    """Label the rows of the file, and write them."""
    with library_errors():
        label_file(options.model, options.file, options.output, label_column=options.name, notify=print_note)
    print_written(make_console(stderr=True), options.output)
