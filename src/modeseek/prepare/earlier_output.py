"""Columns of clusters and confidences that an earlier run has added to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from modeseek.prepare.facts import ColumnFacts

# the default name of a column of clusters
LABELS = "cluster"
CONFIDENCE = "confidence"


def earlier_output(names: Sequence[str], facts: Mapping[str, ColumnFacts]) -> list[str]:
    """Return the columns that an earlier run has added.

    A column of clusters has the default name, or is followed by a column of confidences; another table may have one
    of these names by chance, so the values are compared, too.

    Parameters
    ----------
    names : sequence of str
        All columns of the table, in order.
    facts : mapping of str to ColumnFacts
        Facts about some of the columns.

    Examples
    --------
    >>> from modeseek.prepare.config import PrepareConfig
    >>> from modeseek.prepare.facts import column_facts
    >>> import pyarrow as pa
    >>> table = pa.table({"mass": [3.5, 2.5], "group": [1, 0], "confidence": [1.0, 0.5]})
    >>> facts = {name: column_facts(table.column(name), PrepareConfig()) for name in table.column_names}
    >>> earlier_output(table.column_names, facts)
    ['group', 'confidence']
    """
    labels = {name for name, each in facts.items() if _may_be_labels(each)}
    found = [name for name in names if name == LABELS and name in labels]
    for before, name in pairwise(names):
        each = facts.get(name)
        if name.endswith(CONFIDENCE) and each and each.styles and 0 <= each.low <= each.high <= 1:
            found += [before, name] if before in labels else [name] if before == LABELS else []
    return list(dict.fromkeys(found))


def _may_be_labels(facts: ColumnFacts) -> bool:
    """Return whether the numbers can be clusters; the largest cluster has the number 0, and noise the number -1."""
    whole = bool(facts.hashed or facts.missing)
    return whole and bool(facts.styles) and facts.low in (-1, 0) and facts.high < facts.rows
