"""The command `modeseek label`."""

from __future__ import annotations

from modeseek._storage.errors import MissingValueError, TextColumnError
from modeseek.cli.commands import UsageError
from modeseek.cli.messages import library_errors, print_note
from modeseek.cli.options import LabelOptions
from modeseek.cli.screen import make_console, print_written
from modeseek.pipeline import label_file


def run(options: LabelOptions) -> None:
    """Label the rows of the file, and write them."""
    with library_errors():
        try:
            label_file(
                options.model, options.file, options.output, label_column=options.label_column, notify=print_note
            )
        except TextColumnError as error:
            raise UsageError(error.explain("empty the cell, so that its row gets no cluster")) from error
        except MissingValueError as error:
            raise UsageError(f"{error.problem}: correct it, or remove the row.") from error
    print_written(make_console(stderr=True), options.output)
