"""The command line and what is behind it give the answers that are kept in golden_commands.json."""

from __future__ import annotations

import json

import pytest

import golden
import golden_commands

KEPT = json.loads(golden_commands.FILE.read_text())
NEEDED = {"dask": "distributed", "segment": "skimage", "diarize, scored": "pyannote.metrics"}
WITH_JOBS = ("csv", "communities", "dsms, five chains", "blocks: csv", "diarize")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("kept")
    golden_commands.write_inputs(made)
    return made


def need(case):
    """Skip a case whose optional package is not installed."""
    for start, package in NEEDED.items():
        if case.startswith(start):
            pytest.importorskip(package)


@pytest.mark.parametrize("case", golden_commands.COMMANDS)
def test_commands(case, folder):
    need(case)
    results, texts = golden_commands.command(case, folder)
    assert golden.differences(results, KEPT["results"][case]) == []
    assert texts == KEPT["texts"].get(case, {})


@pytest.mark.parametrize("case", WITH_JOBS)
def test_commands_with_two_jobs(case, folder):
    results, _ = golden_commands.command(case, folder, "--jobs 2")
    assert golden.differences(results, KEPT["results"][case]) == []


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own calls of pandas
@pytest.mark.parametrize("case", golden_commands.CALLS)
def test_calls(case, folder):
    need(case)
    assert golden.differences(golden_commands.CALLS[case](folder), KEPT["results"][case]) == []


def test_every_answer_is_of_a_case():
    assert KEPT["results"].keys() == {*golden_commands.COMMANDS, *golden_commands.CALLS}
    assert KEPT["texts"].keys() <= golden_commands.COMMANDS.keys()


def test_rows_do_not_depend_on_how_they_are_read():
    results = KEPT["results"]
    assert results["csv"]["out.csv"] == results["blocks: csv"]["out.csv"] == results["blocks: two files"]["out.csv"]
    assert results["csv"]["out.csv"] == results["rows to standard output"]["stdout"]
    assert results["parquet"]["out.parquet"] == results["blocks: parquet"]["out.parquet"]
    assert results["parquet"]["out.parquet"] == results["dask scheduler"]["csv"]["out.parquet"]
