"""The commands, and how they end: 0 fine, 2 bad usage or input, 130 Ctrl-C, 143 SIGTERM, 1 a reader that left."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from modeseek._common.resources import NotEnoughMemory
from modeseek._storage import DataError
from modeseek.cli import options as o
from modeseek.cli import picture_options as p
from modeseek.cli.messages import message_of
from modeseek.cli.settings import Problem, Settings
from modeseek.cli.signals import sigterm_as_ctrl_c

__all__ = ["app", "main"]

# the base of all complaints about the command line; newer typers bring a click of their own, so it is
# asked for by way of a class that every typer has
UsageComplaint: type[Exception] = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")


class PlainGroup(TyperGroup):
    """Commands that put errors in a line or two, without frames and tracebacks."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its status."""
        with sigterm_as_ctrl_c() as heard:
            status = self._run(args, prog_name or "modeseek", complete_var, windows_expand_args, extra)
        sys.exit(heard.status(status) if isinstance(status, int) else 0)

    def _run(
        self,
        args: Sequence[str] | None,
        prog_name: str,
        complete_var: str | None,
        windows_expand_args: bool,
        extra: dict[str, Any],
    ) -> Any:
        try:
            # not standalone: that would put messages in a frame; the other arguments are typer's business
            status = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()  # here, where a full disk can still be reported
        except UsageComplaint as complaint:
            status = _fail(complaint.format_message(), hint=_hint(complaint))  # type: ignore[attr-defined]
        except (Problem, DataError) as problem:
            status = _fail(message_of(problem))
        except BrokenPipeError:
            # whoever read has seen enough: nothing to say
            status = 1
            _abandon_output()
        except OSError as error:
            status = _fail(f"cannot write to standard output: {error.strerror or error}.")
            _abandon_output()
        except MemoryError as error:
            short = isinstance(error, NotEnoughMemory)
            status = _fail(
                str(error) if short else "there is not enough memory for this file: take fewer rows or columns."
            )
        except (KeyboardInterrupt, typer.Abort):
            status = 130
        return status


app = typer.Typer(
    cls=PlainGroup,
    help="Mean-shift clustering, deterministic and stochastic.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from modeseek import __version__

        typer.echo(f"modeseek {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def cluster(
    context: typer.Context,
    files: o.Files,
    output: o.Output = None,
    name: o.Name = "cluster",
    guard_formulas: o.GuardFormulas = False,
    plot: o.Plot = None,
    report: o.Report = None,
    save: o.Save = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
    columns: o.Columns = None,
    ignore: o.Ignore = None,
    scale: o.Scale = None,
    header: o.Header = None,
    out_of_core: o.OutOfCore = None,
    restart: o.Restart = False,
    algorithm: o.Algorithm = None,
    metric: o.Metric = "euclidean",
    profile: o.Profile = None,
    order: o.Order = None,
    chains: o.Chains = None,
    n_clusters: o.NClusters = None,
    min_clusters: o.MinClusters = None,
    max_clusters: o.MaxClusters = None,
    min_cluster_size: o.MinClusterSize = None,
    sketch: o.Sketch = None,
    resolution: o.Resolution = None,
    h_min: o.HMin = None,
    h_max: o.HMax = None,
    h_inf: o.HInf = None,
    policy: o.Policy = None,
    nu: o.Nu = None,
    bandwidth: o.Bandwidth = None,
    seed: o.Seed = 0,
    tol: o.Tol = None,
    tau: o.Tau = None,
    max_updates: o.MaxUpdates = None,
    max_time: o.MaxTime = None,
    engine: o.EngineName = None,
    jobs: o.Jobs = None,
    checkpoint: o.CheckpointFile = None,
    checkpoint_every: o.CheckpointEvery = None,
    scheduler: o.Scheduler = None,
) -> None:
    """Cluster the rows of FILE, or of several one after the other, by ModeSeek where no other algorithm is named.

    Prints the clusters and how they were chosen; -o writes rows with clusters, --plot a picture, --report a page
    to read and click, --json a summary.
    Ctrl-C ends a run early: what there is by then is written all the same, and the status is 130; SIGTERM
    does the same with status 143.
    Several files, and those above 200 MB, are read in blocks: there the same command goes on where it was stopped.
    """
    from modeseek.cli.work import cluster_file

    # the parameters above and the fields of Settings are the same names
    cluster_file(Settings(**context.params))


@app.command()
def label(model: o.Model, file: o.LabelFile, output: o.LabelOutput = "-", name: o.Name = "cluster") -> None:
    """Label the rows of FILE by MODEL: each gets the cluster of the nearest row that the model was fitted on.

    MODEL is what 'modeseek cluster --save' wrote; its columns are looked for by name and scaled as they were then.
    """
    from modeseek.cli.label import label_file

    label_file(model, file, output, name)


@app.command()
def paper(
    figures: o.Figures = None,
    runs: o.Runs = None,
    seed: o.PaperSeed = 0,
    jobs: o.PaperJobs = -1,
    out: o.Out = "modeseek-paper",
    quick: o.Quick = False,
    quiet: o.PaperQuiet = False,
    scheduler: o.PaperScheduler = None,
    engine: o.PaperEngine = "auto",
) -> None:
    """Run the experiments of the paper: rows, figures and a report that says what holds.

    Without FIGURE, all of them: sparse, imbalance, clusters, range, sweep, absorption, one-run, submartingale, gradient
    and certificate. Ctrl-C keeps what is done; the same command goes on from there.
    """
    from modeseek.cli.paper import run_command

    run_command(figures or [], runs, seed, jobs, out, quick=quick, quiet=quiet, scheduler=scheduler, engine=engine)


@app.command()
def diarize(
    context: typer.Context,
    file: o.Embeddings,
    segments: o.Segments = None,
    reference: o.Reference = None,
    output: o.Turns = None,
    timeline: o.Timeline = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
    uri: o.Uri = None,
    num_speakers: o.NumSpeakers = None,
    min_speakers: o.MinSpeakers = None,
    max_speakers: o.MaxSpeakers = None,
    min_duration: o.MinDuration = 0.5,
    overlapping: o.Overlapping = "cut",
    centre: o.Centre = False,
    components: o.Components = None,
    whiten: o.Whiten = False,
    collar: o.Collar = 0.0,
    skip_overlap: o.SkipOverlap = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
) -> None:
    """Say who speaks when, from embeddings of windows of speech.

    Prints the speakers, and with --reference how far they agree with it; -o writes RTTM, --timeline a picture.
    A reference needs pyannote.core and pyannote.metrics, the extra 'diarization' of modeseek.
    """
    from modeseek.cli.diarize import Asked, run_command

    # the parameters above and the fields of Asked are the same names
    run_command(Asked(**context.params))


@app.command()
def explore(file: o.ExploreFile = None, port: o.Port = None, no_browser: o.NoBrowser = False) -> None:
    """Open a page on which runs can be watched, compared and steered; it is for this computer only.

    Needs Panel and Bokeh: pip install panel bokeh, or the extra 'explore' of modeseek. Ctrl-C ends it.
    """
    from modeseek.cli.explore import run_command

    run_command(file, port, browser=not no_browser)


@app.command()
def segment(
    context: typer.Context,
    picture: p.Picture,
    output: p.Labels = None,
    overlay: p.Overlay = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
    spatial_bandwidth: p.SpatialBandwidth = None,
    colour_bandwidth: p.ColourBandwidth = 10.0,
    prominence: p.Prominence = 0.5,
    min_size: p.MinSize = None,
    connected: p.Connected = True,
    spacing: p.Spacing = None,
    channel_axis: p.ChannelAxis = None,
) -> None:
    """Segment PICTURE, or a volume, into regions of like colour.

    Prints the regions; -o writes the label image, --overlay the picture with their boundaries, --json a summary.
    Needs scikit-image: pip install scikit-image, or the extra 'images' of modeseek.
    """
    from modeseek.cli.segment import Request, segment_file

    segment_file(Request(**context.params))


def main() -> None:
    """Run the command line; the entry point of `modeseek`."""
    app()


def _fail(message: str, *, hint: str = "") -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    if hint:
        print(hint, file=sys.stderr)
    return 2


def _abandon_output() -> None:
    # what is left in the buffer would be written, and fail, once more when Python ends
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _hint(complaint: Exception) -> str:
    context = getattr(complaint, "ctx", None)
    return f"Try '{context.command_path} --help'." if context is not None else ""
