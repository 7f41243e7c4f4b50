"""Pages: blocks of text, tables and pictures, written as HTML that needs no network and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """A table: a header, rows of text and a caption."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
