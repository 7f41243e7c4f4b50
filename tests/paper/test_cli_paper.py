"""The command `modeseek paper`: output files, resuming, and errors."""

import re
from dataclasses import replace

import pytest

from commands import refused, run
from modeseek.paper.job_list import JobList, run_jobs
from modeseek.paper.sparse import Sparse

QUICK = ["--quick", "--runs", "1", "--jobs", "1"]


@pytest.fixture(scope="module", autouse=True)
def small():
    """Shrink the grid of `--quick`."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Sparse, "quick", lambda self: replace(self, sizes=(10, 101), sweep=(0.6, 1.2)))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper") / "out"
    return folder, run("paper", "sparse", *QUICK, "--out", folder)


def test_it_leaves_rows_pictures_and_pages(done):
    folder, (status, out, err) = done
    assert status == 0
    assert str(folder / "report.html") in out
    assert "about" in err
    assert "drawing the figures and writing the report" in err
    assert err.endswith("modeseek paper: drawing the figures and writing the report\n")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["claims.html", "claims.md", "data", "figures", "report.html", "report.md"]
    stems = {path.name for path in (folder / "figures").iterdir()}
    assert stems == {f"{stem}{suffix}" for stem in Sparse().captions for suffix in (".png", ".svg")}
    header = (folder / "data" / "sparse.csv").read_text().splitlines()[0]
    assert header.startswith("spread,n_per_cluster,run,line,h,n_clusters")


def test_the_page_stands_on_its_own(done):
    page = (done[0] / "report.html").read_text()
    assert not re.search(r'(?:src|href)="(?:https?:|//|figures/)', page)
    assert page.count("data:image/") == len(Sparse().captions)
    # the config that was run, and the claims that these rows can decide
    assert "max_updates&#34;: 10000000" in page
    assert "MS and BMS exhibit a tendency toward over-segmentation" in page
    assert "experiments indicate the existence of a range" not in page


def test_markdown_links_what_is_there(done):
    for name in ("report.md", "claims.md"):
        links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (done[0] / name).read_text())
        assert links
        assert all((done[0] / link).is_file() for link in links)


def test_two_processes_give_the_same_bytes(done):
    jobs = JobList([Sparse().quick()], runs=1, seed=0)
    run_jobs(jobs, n_jobs=2)
    assert jobs.rows(jobs.experiments[0]).csv().encode() == (done[0] / "data" / "sparse.csv").read_bytes()


def test_interrupted_it_says_so_and_goes_on(done, tmp_path, monkeypatch):
    work, calls = Sparse.work, []

    def interrupted(self, job, seed):
        calls.append(job.key)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return work(self, job, seed)

    monkeypatch.setattr(Sparse, "work", interrupted)
    monkeypatch.setattr("modeseek.paper.report_page.FIGURE_SUFFIXES", (".png",))  # drawing takes most of the time
    status, _, err = run("paper", "sparse", *QUICK, "--out", tmp_path)
    assert status == 130
    assert "give the same command again to continue" in err
    assert not (tmp_path / "report.html").exists()
    assert run("paper", "sparse", *QUICK, "--out", tmp_path)[0] == 0
    assert calls[:3] + calls[4:] == [job.key for job in Sparse().quick().jobs(1)] != []
    assert (tmp_path / "data" / "sparse.csv").read_bytes() == (done[0] / "data" / "sparse.csv").read_bytes()
    assert not (tmp_path / "unfinished").exists()


def test_a_failed_job_is_told_and_the_others_are_kept(tmp_path, monkeypatch):
    def broken(self, job, seed):
        raise FloatingPointError("out of range")

    monkeypatch.setattr(Sparse, "work", broken)
    refused("a job failed", "paper", "sparse", *QUICK, "--quiet", "--out", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["spars"], "Did you mean 'sparse'?"),
        (["sparse", "--runs", "0"], "--runs"),
        (["sparse", "--seed", "-1"], "--seed"),
        (["sparse", "--jobs", "0"], "--jobs must not be 0"),
        (["sparse", "--runs", "many"], "--runs"),
    ],
)
def test_mistakes(arguments, message, tmp_path):
    refused(message, "paper", *arguments, "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "taken").write_text("mine")
    refused("cannot make the folder", "paper", "sparse", *QUICK, "--out", tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_the_help_names_every_experiment():
    from modeseek.cli.options import PaperOptions
    from modeseek.paper import EXPERIMENTS

    words = PaperOptions.__doc__.replace(",", " ").split()
    assert [name for name in EXPERIMENTS if name not in [word.rstrip(".") for word in words]] == []
