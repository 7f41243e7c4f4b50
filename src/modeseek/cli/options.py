"""The options of the command, with their help."""

from __future__ import annotations

from typing import Annotated

import typer

DATA, METHOD, RUN, OUTPUT = "Data", "Method", "Run", "Results"
# what ModeSeek has no use for
CHAIN, BANDWIDTH = "Mean shift: --algorithm dsms, sms, bms or ms", "Bandwidths of mean shift"

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, TSV or other delimited text, Parquet, NPY or NPZ; - reads text from a pipe. Several files must have "
        "the same columns.",
    ),
]
OutOfCore = Annotated[
    bool | None,
    typer.Option(
        "--out-of-core/--in-memory",
        show_default=False,
        help="Read in blocks, cluster a summary, and write as it goes; or hold all rows in memory. Where not given: in "
        "blocks for several files, and above 200 MB.",
        rich_help_panel=DATA,
    ),
]
Sketch = Annotated[
    str | None,
    typer.Option(
        metavar="auto|grid|sample|none",
        show_default="auto",
        help="Run on weighted points that stand for many rows: auto does so above 50,000 (modeseek: 100,000).",
        rich_help_panel=METHOD,
    ),
]
Resolution = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        show_default="1/16",
        help="Widest cell of such a grid, over the smallest bandwidth.",
        rich_help_panel=CHAIN,
    ),
]
Restart = Annotated[
    bool,
    typer.Option("--restart", help="Drop what an unfinished run has left for the same output.", rich_help_panel=RUN),
]
CheckpointFile = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep how far the run has come in FILE; the same command goes on from it (dsms, sms, bms, ms).",
        rich_help_panel=RUN,
    ),
]
CheckpointEvery = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", show_default="60", help="Time between two saves of it.", rich_help_panel=RUN),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Give the work to the workers of a Dask scheduler, such as tcp://127.0.0.1:8786. They read the files "
        "(Parquet or CSV), and -o is a folder of Parquet that they write.",
        rich_help_panel=RUN,
    ),
]
PaperEngine = Annotated[
    str,
    typer.Option(metavar="NAME", help="Engine of SMS and DSMS; cuda runs those of many jobs at once on a GPU."),
]
PaperScheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Give the jobs to the workers of a Dask scheduler: tcp://127.0.0.1:8786."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default=False,
        help="Whether the first line of a text holds names; found out where not given.",
        rich_help_panel=DATA,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B",
        help="Columns to cluster by; several with commas, or the option repeated. All where not given.",
        rich_help_panel=DATA,
    ),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out.", rich_help_panel=DATA)]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="standard|none",
        show_default="standard, under cosine none",
        help="standard brings each feature to mean 0 and standard deviation 1; bandwidths and tau are in "
        "units after scaling.",
        rich_help_panel=DATA,
    ),
]
Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="modeseek",
        help="modeseek has nothing to set; dsms, sms, bms and ms are doubly stochastic, stochastic, blurring and plain "
        "mean shift.",
        rich_help_panel=METHOD,
    ),
]
Metric = Annotated[
    str,
    typer.Option(
        metavar="euclidean|cosine",
        help="cosine compares directions; a length is then the chord between unit vectors, sqrt(2 - 2 cos).",
        rich_help_panel=METHOD,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="biweight",
        help="Shape of the kernel: biweight, triweight, quadweight, flat or gaussian.",
        rich_help_panel=CHAIN,
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="random|reshuffled|even",
        show_default="random",
        help="Draw each point anew by weight, visit each once a sweep, or draw all evenly (dsms, sms).",
        rich_help_panel=CHAIN,
    ),
]
NClusters = Annotated[
    int | None,
    typer.Option(
        "--n-clusters",
        metavar="N",
        show_default="found",
        help="A number of clusters to look for (modeseek).",
        rich_help_panel=METHOD,
    ),
]
MinClusters = Annotated[
    int | None, typer.Option("--min-clusters", metavar="N", help="At least so many (modeseek).", rich_help_panel=METHOD)
]
MaxClusters = Annotated[
    int | None, typer.Option("--max-clusters", metavar="N", help="At most so many (modeseek).", rich_help_panel=METHOD)
]
MinClusterSize = Annotated[
    int | None,
    typer.Option(metavar="N", show_default="1", help="Smaller clusters become noise, -1.", rich_help_panel=METHOD),
]
Chains = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        show_default="1",
        help="Run N chains and take what most of them agree on; -o then has a confidence for each row (dsms, sms).",
        rich_help_panel=METHOD,
    ),
]
HMin = Annotated[
    float | None,
    typer.Option(
        "--h-min",
        metavar="H",
        show_default="from the data",
        help="Smallest bandwidth (dsms).",
        rich_help_panel=BANDWIDTH,
    ),
]
HMax = Annotated[
    float | None,
    typer.Option(
        "--h-max",
        metavar="H",
        show_default="from the data",
        help="Largest bandwidth (dsms).",
        rich_help_panel=BANDWIDTH,
    ),
]
HInf = Annotated[
    float | None,
    typer.Option(
        "--h-inf",
        metavar="H",
        show_default="from the data",
        help="Bandwidth that the draws shrink to, or start from (dsms).",
        rich_help_panel=BANDWIDTH,
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="shrinking",
        help="How bandwidths are drawn: shrinking, walk, uniform, anchored or constant (dsms).",
        rich_help_panel=BANDWIDTH,
    ),
]
Nu = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="log-log",
        help="How the spread of the draws falls: log-log, 1/k, or an exponent a for 1/k^a (dsms).",
        rich_help_panel=BANDWIDTH,
    ),
]
Bandwidth = Annotated[
    float | None,
    typer.Option(
        metavar="H",
        show_default="from the data",
        help="The bandwidth (sms, bms, ms).",
        rich_help_panel=BANDWIDTH,
    ),
]
Tol = Annotated[
    float | None,
    typer.Option(metavar="X", help="A shift below this share of h counts as none.", rich_help_panel=CHAIN),
]
Tau = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        show_default="h_min / 4",
        help="Points closer than this are one cluster at the end.",
        rich_help_panel=CHAIN,
    ),
]
MaxUpdates = Annotated[
    int | None,
    typer.Option(metavar="N", help="Stop at the sweep that makes so many moves.", rich_help_panel=CHAIN),
]
MaxTime = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Stop after so many seconds.", rich_help_panel=CHAIN)
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default="auto",
        help="auto, brute, moment_tree, neighbor_lists, cuda or reference.",
        rich_help_panel=CHAIN,
    ),
]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", help="Processor cores to use; -1 takes all.", rich_help_panel=RUN)
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="The same seed gives the same clusters.", rich_help_panel=RUN),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the rows with their cluster and, by modeseek or several chains, its confidence: the ending chooses "
        "the format; - prints CSV.",
        rich_help_panel=OUTPUT,
    ),
]
Name = Annotated[str, typer.Option(metavar="NAME", help="Name of the new column.", rich_help_panel=OUTPUT)]
GuardFormulas = Annotated[
    bool,
    typer.Option(
        "--guard-formulas",
        help="In the text that -o writes, put an apostrophe before cells that a spreadsheet would take for formulas.",
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write a picture (PNG, SVG, PDF, ...); above two features, by principal components.",
        rich_help_panel=OUTPUT,
    ),
]
Save = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the fitted model (.modeseek), by which 'modeseek label' labels other rows; nothing in it is code.",
        rich_help_panel=OUTPUT,
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that 'modeseek cluster --save' wrote.")]
LabelFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Rows with the columns of the model, in any order; - reads text from a pipe."),
]
LabelOutput = Annotated[
    str,
    typer.Option("--output", "-o", metavar="FILE", help="Where rows with their clusters go; - is standard output."),
]
Report = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write a page about the clusters (HTML, one file): a picture to point at, what sets each cluster apart, "
        "doubtful rows, the Python lines.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write a summary as JSON; - prints it.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No table and no progress bar; notes and errors stay.", rich_help_panel=OUTPUT),
]

Figures = Annotated[
    list[str] | None,
    typer.Argument(metavar="FIGURE", help="Which experiments; all where none is named.", show_default=False),
]
Runs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default="100, with --quick 5", help="Repetitions of each set-up."),
]
PaperSeed = Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same rows, byte for byte.")]
PaperJobs = Annotated[
    int, typer.Option(metavar="N", help="Processes; -1 takes all cores. Results do not depend on it.")
]
Out = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder for everything that is written.")]
Quick = Annotated[bool, typer.Option("--quick", help="A small grid: all figures in a minute or two, less certain.")]
PaperQuiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no closing lines.")]

ExploreFile = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="Data to begin with; without it, an example.", show_default=False),
]
Port = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=65535, show_default="5808, or one that is free", help="Port of the page."),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing.")]

SPEECH, SPEAKERS = "Data", "Speakers"
Embeddings = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Embeddings, one row for each window: NPZ with X and perhaps times (n, 2), NPY, or a table of numbers.",
    ),
]
Segments = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        show_default="times in FILE",
        help="When each window is, in seconds: CSV with start and end, .lab or RTTM, in the order of the embeddings.",
        rich_help_panel=SPEECH,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="RTTM with the truth: prints how far the turns agree.", rich_help_panel=SPEECH),
]
Uri = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", show_default="name of FILE", help="Name of the recording in RTTM.", rich_help_panel=SPEECH
    ),
]
MinDuration = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Shorter windows have no say; they go to the nearest speaker with a low confidence.",
        rich_help_panel=SPEECH,
    ),
]
Overlapping = Annotated[
    str,
    typer.Option(
        metavar="cut|keep",
        help="Cut windows that overlap in the middle of what they share; keep is for segments that are turns.",
        rich_help_panel=SPEECH,
    ),
]
NumSpeakers = Annotated[
    int | None,
    typer.Option(metavar="N", show_default="found", help="How many there are.", rich_help_panel=SPEAKERS),
]
MinSpeakers = Annotated[int | None, typer.Option(metavar="N", help="At least so many.", rich_help_panel=SPEAKERS)]
MaxSpeakers = Annotated[int | None, typer.Option(metavar="N", help="At most so many.", rich_help_panel=SPEAKERS)]
Centre = Annotated[
    bool, typer.Option("--centre", help="Take off the mean of the embeddings.", rich_help_panel=SPEAKERS)
]
Components = Annotated[
    int | None, typer.Option(metavar="N", help="Keep so many principal components.", rich_help_panel=SPEAKERS)
]
Whiten = Annotated[
    bool, typer.Option("--whiten", help="Bring principal components to one spread.", rich_help_panel=SPEAKERS)
]
Turns = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the turns as RTTM; - prints them.", rich_help_panel=OUTPUT
    ),
]
Timeline = Annotated[
    str | None,
    typer.Option(
        "--timeline",
        "--plot",
        metavar="FILE",
        help="Write a picture of the turns, fainter where they are less sure (PNG, SVG, PDF, ...).",
        rich_help_panel=OUTPUT,
    ),
]
Collar = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        help="Leave so much around each boundary of the reference out of DER and JER, half on each side.",
        rich_help_panel=OUTPUT,
    ),
]
SkipOverlap = Annotated[
    bool,
    typer.Option("--skip-overlap", help="Leave out where the reference has two speakers.", rich_help_panel=OUTPUT),
]
