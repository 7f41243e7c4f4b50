"""The parameters of `TablePreparer` as a value, and the limits that decide which columns are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from modeseek._common.validation import check_choice

ENCODINGS = ("drop", "onehot")
MISSING = ("drop", "median", "error")
SCALES = ("standard", "robust", "log", "none")


@dataclass(frozen=True)
class PrepareConfig:
    """Limits that decide which columns `TablePreparer` keeps.

    Attributes
    ----------
    max_levels : int
        A text column with more distinct values is not one-hot encoded.
    min_counted_rows : int
        A shorter column may increase by one in each row by chance, so it is not treated as an identifier.
    counted_share : float
        A column of integers is an identifier that restarts if this share of the cells are one more than the cell
        before. Hours, days and minutes of long series have a smaller share.
    hashed_cells : int
        Number of cells that are compared to decide whether the integers of a column are all different.
    min_long_identifier : float
        Integers of this size that have the same number of digits and are all different are identifiers.
    min_steady_rows, steady_ratio : int, float
        Integers that increase, or decrease, from row to row are identifiers with gaps if there are at least
        `min_steady_rows`, and their mean squared step is at most `steady_ratio` times their squared mean step. The
        ratio is 2 for random gaps, and larger for sorted measurements.
    max_words : int
        A column of numbers with up to this many different texts gets a note that they may stand for missing values.
    max_missing : float
        A column with a larger share of missing values is left out.
    skewness : float
        A column with a larger skewness is heavily skewed, if its logarithm is less than half as skewed.
    max_zeros, zero_ratio : float
        A column with a larger share of zeros, which are also `zero_ratio` times as frequent as its smallest positive
        value, has no logarithm: the zeros would be far from the other values. Zeros of counts are less frequent.
    few_values, min_rows_per_value : int
        Numeric columns with two to `few_values` different values, and at least `min_rows_per_value` rows for each on
        average, are left out if they are less than half of the columns; otherwise a note names them.
    sample_rows : int
        Medians, quartiles and skewness are those of at most this many rows, drawn at random.
    sample_numbers : int
        The largest number of cells of this sample.
    """

    max_levels: int = 20
    min_counted_rows: int = 10
    counted_share: float = 0.99
    hashed_cells: int = 256
    min_long_identifier: float = 1e12
    min_steady_rows: int = 100
    steady_ratio: float = 2.5
    max_words: int = 3
    max_missing: float = 0.5
    skewness: float = 2.0
    max_zeros: float = 0.1
    zero_ratio: float = 10.0
    few_values: int = 5
    min_rows_per_value: int = 20
    sample_rows: int = 20_000
    sample_numbers: int = 2_000_000


DEFAULT = PrepareConfig()


@dataclass(frozen=True)
class PrepareOptions:
    """The parameters of `TablePreparer`; see there. In `DataOptions`, `scale` may be None, which it replaces."""

    columns: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    scale: str | None = "standard"
    encode: str = "drop"
    missing: str = "drop"
    strict: bool = False
    missing_values: Sequence[str | float] = ()
    config: ClassVar[PrepareConfig] = DEFAULT

    def check(self) -> None:
        """Raise a `ValueError` if a choice is unknown."""
        check_choice("encode", self.encode, ENCODINGS)
        check_choice("missing", self.missing, MISSING)
        check_choice("scale", self.scale, SCALES)
