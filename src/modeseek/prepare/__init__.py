"""From a table as people have it to a matrix of numbers: `TablePreparer`, and `read_table` for files."""

from modeseek._storage.reading import read_table
from modeseek.prepare.plan import Note
from modeseek.prepare.preparer import TablePreparer

__all__ = ["Note", "TablePreparer", "read_table"]
