"""The option that keeps spreadsheets from taking cells of CSV files for formulas."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from modeseek._storage.cells import is_missing, is_number
from modeseek._storage.formats.delimited import guarded
from modeseek._storage.reading import read_table
from modeseek._storage.writing import write_table
from modeseek.cli import app

EVIL = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", " =x", '=HYPERLINK("http://x","y")']


def written(folder, *options, output="out.csv"):
    rows = [[i % 2 * 9 + i / 100, -i / 50, EVIL[i % len(EVIL)]] for i in range(40)]
    with (folder / "in.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["x", "-y", "=note"])
        writer.writerows(rows)
    out = folder / output
    done = CliRunner().invoke(
        app, ["cluster", str(folder / "in.csv"), "--ignore", "=note", "-q", "-o", str(out), *options]
    )
    if done.exit_code:
        return done
    with out.open(newline="") as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize("how", [[], ["--out-of-core"]])
def test_cells_that_begin_like_formulas_are_shown_as_text(how, tmp_path):
    header, *rows = written(tmp_path, "--guard-formulas", "--name", "@cluster", *how)
    assert header[:4] == ["x", "'-y", "'=note", "'@cluster"]
    assert [row[2] for row in rows[: len(EVIL)]] == [f"'{cell}" for cell in EVIL]
    assert all(is_number(cell) for row in rows for j, cell in enumerate(row) if j != 2)
    assert min(float(row[1]) for row in rows) == -39 / 50  # a number is no formula
    plain_header, *plain = written(tmp_path, *how, output="plain.csv")
    assert plain_header[:3] == ["x", "-y", "=note"]  # only on request
    assert [row[2] for row in plain] == [row[2][1:] for row in rows]


@pytest.mark.parametrize("output", ["out.parquet", None])
def test_the_option_is_refused_for_other_formats(output, tmp_path):
    (tmp_path / "in.csv").write_text("x\n1\n2\n")
    target = ["-o", str(tmp_path / output)] if output else []
    done = CliRunner().invoke(app, ["cluster", str(tmp_path / "in.csv"), "--guard-formulas", *target])
    assert done.exit_code == 2
    assert "--guard-formulas applies to text" in done.output


def test_write_table_guards_formulas(tmp_path):
    (tmp_path / "in.csv").write_text("x,name\n1,=a\n2,b\n")
    write_table(read_table(tmp_path / "in.csv"), tmp_path / "out.csv", {"cluster": [0, -1]}, guard=True)
    assert (tmp_path / "out.csv").read_text() == "x,name,cluster\n1,'=a,0\n2,b,-1\n"


def test_a_carriage_return_in_a_cell_does_not_split_its_row(tmp_path):
    """Before Python 3.13 the csv module writes it without quotes."""
    (tmp_path / "in.csv").write_bytes(b'x,name\n1,"a\rb"\n2,"\r"\n3,c\n')
    table = read_table(tmp_path / "in.csv")
    write_table(table, tmp_path / "out.csv", {"cluster": [0, 1, 2]})
    back = read_table(tmp_path / "out.csv")
    assert back.cells[1].tolist() == table.cells[1].tolist() == ["a\rb", "\r", "c"]
    assert (tmp_path / "out.csv").read_bytes() == b'x,name,cluster\n1,"a\rb",0\n2,"\r",1\n3,c,2\n'


@given(st.text(max_size=8) | st.from_regex(r"[=+\-@\t\r][0-9.eE+\-]*", fullmatch=True) | st.floats())
def test_every_guarded_cell_is_harmless(cell):
    got = guarded(cell)
    if isinstance(cell, float) or is_number(cell) or is_missing(cell):
        assert got is cell
    else:
        assert got[:1] not in "=+-@\t\r" or not got
        assert got in (cell, f"'{cell}")
