"""Run the command line in tests, and a table to run it on."""

import pytest
from typer.testing import CliRunner

from modeseek.cli import app
from modeseek.datasets import paper_mixture

X, Y = paper_mixture(15, random_state=0)
DSMS = ["--algorithm", "dsms"]
RANGE = [*DSMS, "--h-min", "0.4", "--h-max", "1.6", "--h-inf", "0.8"]


@pytest.fixture
def data(tmp_path):
    """A CSV file with a column of names and two of numbers."""
    path = tmp_path / "points.csv"
    rows = [f"p{i},{a!r},{b!r}" for i, (a, b) in enumerate(X.tolist())]
    path.write_text("name,width,height\n" + "\n".join(rows) + "\n")
    return path


def run(*arguments, stdin=None):
    """Run the command as a user would; return status, standard output and standard error."""
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, [str(a) for a in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def refused(message, *arguments, stdin=None):
    """Check that the command ends with status 2 and one `error:` line that holds the message."""
    status, out, err = run(*arguments, stdin=stdin)
    assert status == 2, (out, err)
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("error: ")
    assert len(lines) <= 2
    assert "Traceback" not in err
    assert message in lines[0]


def inside(folder):
    return sorted(path.name for path in folder.iterdir())
