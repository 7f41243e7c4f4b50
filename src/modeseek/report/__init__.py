"""Pages: blocks of text, tables and pictures, written as HTML that needs no network and as Markdown."""
