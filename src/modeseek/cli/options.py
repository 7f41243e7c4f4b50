"""The options of all commands, with their help texts: one class per command, one field per option."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Annotated

from modeseek.cli.commands import BaseCommand, Option, UsageError

DEFAULT_ALGORITHM = "modeseek"
# titles of groups of options
RESULTS = "Results"
DATA = "Data"
METHOD = "Method"
RUN = "Run"
SPEAKERS = "Speakers"
MEAN_SHIFT = "Options of the mean-shift algorithms (dsms, sms, bms, ms)"
BANDWIDTHS = "Bandwidths of the mean-shift algorithms"
# limits of counts
POSITIVE = {"min": 1}
# options of `cluster` with fixed choices
CHOICES = {
    "algorithm": ("modeseek", "dsms", "sms", "bms", "ms"),
    "scale": ("standard", "robust", "log", "none"),
    "encode": ("drop", "onehot"),
    "missing": ("drop", "median", "error"),
    "metric": ("euclidean", "cosine", "haversine"),
}


@dataclass(frozen=True)
class InputLimits:
    """Options of all commands that read data files.

    Attributes
    ----------
    max_unpacked : GB
        Size to which a compressed file may unpack. Default: 0.27, or 50 times the size of the file if that is larger.
    """

    max_unpacked: Annotated[float | None, Option(DATA, limits={"min": 0.001})] = None

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply the limits while a `with` block runs."""
        from modeseek._storage.unpacking import limit_unpacked

        with limit_unpacked(None if self.max_unpacked is None else 1e9 * self.max_unpacked):
            yield


@dataclass(frozen=True)
class ClusterOptions(BaseCommand):
    """Cluster the rows of a table.

    The command prints the clusters and how they were found. -o writes the rows with a column of clusters, --plot a
    picture, --report a page in HTML, --json a summary. The default algorithm, ModeSeek, needs no settings and chooses
    the number of clusters.

    Several files, and files above 200 MB, are read in chunks. A run in chunks with -o FILE that was interrupted or
    killed resumes when the same command is given again.

    Ctrl-C stops a run early. The result so far is written, and the exit status is 130 (143 after SIGTERM).

    Attributes
    ----------
    files : FILE
        CSV, TSV or other delimited text and JSON lines, also compressed (gz, bz2, xz, zst, zip); Parquet, Arrow,
        Feather, NPY, NPZ, Excel and OpenDocument (FILE::SHEET), SQLite and DuckDB (FILE::TABLE); - reads text from
        standard input. Several files must have the same columns.
    rows : FILE
        Write the rows with their cluster, and with their confidence if the algorithm computes it. The suffix sets
        the format; - prints CSV.
    label_column : NAME
        Name of the column of clusters. Default: cluster.
    plot : FILE
        Write a picture (PNG, SVG, PDF). More than two features are projected onto two principal components.
    report : FILE
        Write a report in one HTML file: an interactive picture, what distinguishes each cluster, doubtful rows,
        and Python code for the same result.
    json : FILE
        Write a summary as JSON; - prints it.
    model : FILE
        Write the fitted model (.modeseek), for 'modeseek label'. It contains no code.
    guard_formulas : flag
        In text output, prefix cells that a spreadsheet would run as formulas with '.
    quiet : flag
        Print notes and errors only.
    columns : A,B
        Columns to cluster, separated by commas. Default: all that can be clustered.
    ignore : A,B
        Columns that are not clustered.
    truth : COLUMN
        Known groups: compare the clusters with them. The column is not clustered.
    scale : standard|robust|log|none
        standard: scale each feature to mean 0 and standard deviation 1. robust: median 0 and quartiles of a normal
        distribution. log: as standard, with logarithms of heavily skewed features. Bandwidths apply to scaled features.
        Default: standard; none with --metric cosine and --metric haversine.
    encode : drop|onehot
        onehot: a feature with values 0 and 1 for each value of text columns with up to 20 values. Default: drop.
    missing : drop|median|error
        Rows with missing values: written without a cluster, filled with medians, or refused. Default: drop.
    missing_values : -999,X
        Cells that stand for missing values, in addition to empty cells, NA, N/A, #N/A, NaN, null, None, ?, - and
        a point.
    strict : flag
        Refuse text and missing values instead of leaving them out.
    header : flag
        Whether the first line of a text file holds names. Detected by default.
    out_of_core : flag
        Read in chunks and cluster a sketch of the rows, or hold all rows in memory. The default is chunks for
        several files and for files above 200 MB.
    algorithm : NAME
        modeseek, which needs no settings, or a mean shift: dsms (doubly stochastic), sms (stochastic), bms
        (blurring) or ms (plain). Default: modeseek.
    metric : euclidean|cosine|haversine
        cosine compares directions; bandwidths are then chords between unit vectors. haversine needs two columns,
        latitude and longitude in degrees (--columns lat,lon); bandwidths are then in metres. Default: euclidean.
    n_clusters : N
        Number of clusters (modeseek). Default: chosen from the data.
    min_clusters : N
        Minimum number of clusters (modeseek).
    max_clusters : N
        Maximum number of clusters (modeseek).
    min_cluster_size : N
        Clusters with fewer rows become noise, with label -1. Default: 1, no limit.
    max_cluster_size : N
        Clusters with more rows are split (modeseek). Default: no limit.
    n_chains : N
        Run N chains and return their consensus, with a confidence for each row (dsms, sms). Default: 1.
    sketch : auto|grid|sample|none
        Cluster a sketch: weighted points that stand for many rows. auto: above 50,000 rows (modeseek: 1,000,000).
        Default: auto.
    random_state : N
        Random seed; the same seed gives the same clusters. Default: 0.
    n_jobs : N
        Number of processor cores; -1 uses all.
    restart : flag
        Start over instead of resuming an interrupted run with the same -o FILE.
    checkpoint : FILE
        Save the state of a mean shift to FILE; the same command resumes from it.
    checkpoint_every : SECONDS
        Time between two saves of the checkpoint. Default: 60.
    scheduler : ADDRESS
        Run on the workers of a Dask scheduler, such as tcp://127.0.0.1:8786. They read the files (Parquet or CSV)
        and write -o, a folder of Parquet files.
    profile : NAME
        Kernel: biweight, triweight, quadweight, flat or gaussian. Default: biweight.
    order : random|reshuffled|even
        Order of updates: draw points by weight, visit each point once per sweep, or draw points uniformly (dsms,
        sms). Default: random.
    resolution : X
        Cell width of a grid sketch, divided by the smallest bandwidth. Default: 1/16.
    tol : X
        A shift below this fraction of the bandwidth counts as zero.
    tau : X
        At the end, points closer than this share a cluster. Default: h_min / 4.
    max_updates : N
        Stop after this number of updates.
    max_time : SECONDS
        Stop after this time.
    engine : NAME
        auto, brute, moment_tree, neighbor_lists, cuda or reference; of modeseek: auto, exact or approximate.
        Default: auto.
    bandwidth : H
        The bandwidth (sms, bms, ms). Default: from the data.
    h_min : H
        Smallest bandwidth (dsms). Default: from the data.
    h_max : H
        Largest bandwidth (dsms). Default: from the data.
    h_inf : H
        Bandwidth to which the draws converge, or at which a walk starts (dsms). Default: from the data.
    policy : NAME
        Distribution of the drawn bandwidths: shrinking, walk, uniform, anchored or constant (dsms). Default: shrinking.
    nu : NAME
        Decreasing sequence that limits the spread of draw k: log-log, 1/k, or an exponent a for 1/k^a (dsms). Default:
        log-log.
    """

    files: list[str]
    rows: Annotated[str | None, Option(RESULTS, "--output -o")] = None
    label_column: Annotated[str, Option(RESULTS, "--name")] = "cluster"
    plot: Annotated[str | None, Option(RESULTS)] = None
    report: Annotated[str | None, Option(RESULTS)] = None
    json: Annotated[str | None, Option(RESULTS)] = None
    model: Annotated[str | None, Option(RESULTS, "--save")] = None
    guard_formulas: Annotated[bool, Option(RESULTS, "--guard-formulas")] = False
    quiet: Annotated[bool, Option(RESULTS, "--quiet -q")] = False
    columns: Annotated[list[str] | None, Option(DATA)] = None
    ignore: Annotated[list[str] | None, Option(DATA)] = None
    truth: Annotated[str | None, Option(DATA)] = None
    scale: Annotated[str | None, Option(DATA)] = None
    encode: Annotated[str, Option(DATA)] = "drop"
    missing: Annotated[str, Option(DATA)] = "drop"
    missing_values: Annotated[list[str] | None, Option(DATA)] = None
    strict: Annotated[bool, Option(DATA, "--strict")] = False
    header: Annotated[bool | None, Option(DATA, "--header/--no-header")] = None
    out_of_core: Annotated[bool | None, Option(DATA, "--out-of-core/--in-memory")] = None
    algorithm: Annotated[str | None, Option(METHOD)] = None
    metric: Annotated[str, Option(METHOD)] = "euclidean"
    n_clusters: Annotated[int | None, Option(METHOD, limits=POSITIVE)] = None
    min_clusters: Annotated[int | None, Option(METHOD, limits=POSITIVE)] = None
    max_clusters: Annotated[int | None, Option(METHOD, limits=POSITIVE)] = None
    min_cluster_size: Annotated[int | None, Option(METHOD, limits=POSITIVE)] = None
    max_cluster_size: Annotated[int | None, Option(METHOD, limits=POSITIVE)] = None
    n_chains: Annotated[int | None, Option(METHOD, "--chains", limits=POSITIVE)] = None
    sketch: Annotated[str | None, Option(METHOD)] = None
    random_state: Annotated[int, Option(RUN, "--seed", limits={"min": 0})] = 0
    n_jobs: Annotated[int | None, Option(RUN, "--jobs")] = None
    restart: Annotated[bool, Option(RUN, "--restart")] = False
    checkpoint: Annotated[str | None, Option(RUN)] = None
    checkpoint_every: Annotated[float | None, Option(RUN)] = None
    scheduler: Annotated[str | None, Option(RUN)] = None
    profile: Annotated[str | None, Option(MEAN_SHIFT)] = None
    order: Annotated[str | None, Option(MEAN_SHIFT)] = None
    resolution: Annotated[float | None, Option(MEAN_SHIFT)] = None
    tol: Annotated[float | None, Option(MEAN_SHIFT)] = None
    tau: Annotated[float | None, Option(MEAN_SHIFT)] = None
    max_updates: Annotated[int | None, Option(MEAN_SHIFT)] = None
    max_time: Annotated[float | None, Option(MEAN_SHIFT)] = None
    engine: Annotated[str | None, Option(MEAN_SHIFT)] = None
    bandwidth: Annotated[float | None, Option(BANDWIDTHS)] = None
    h_min: Annotated[float | None, Option(BANDWIDTHS)] = None
    h_max: Annotated[float | None, Option(BANDWIDTHS)] = None
    h_inf: Annotated[float | None, Option(BANDWIDTHS)] = None
    policy: Annotated[str | None, Option(BANDWIDTHS)] = None
    nu: Annotated[str | None, Option(BANDWIDTHS)] = None

    def check(self) -> None:
        """Raise `UsageError` for missing files and unknown choices."""
        from modeseek.cli.early import check_choices, check_files

        super().check()
        check_files(self.files)
        if self.metric == "precomputed":
            raise UsageError(
                "--metric precomputed: the command clusters rows of features, not matrices of distances; use "
                'ModeSeek(metric="precomputed") in Python.'
            )
        check_choices(vars(self), CHOICES)

    def around(self) -> AbstractContextManager[object]:
        """Return a context in which functions are compiled on several cores, if this is the first run."""
        from modeseek.cli.compiling import compiling_helpers

        helps = self.algorithm in (None, DEFAULT_ALGORITHM) and self.n_jobs != 1
        return compiling_helpers() if helps else nullcontext()


@dataclass(frozen=True)
class LabelOptions(BaseCommand):
    """Label the rows of a table with a saved model.

    Each row gets the cluster of the nearest row that the model was fitted on; with mean shift (ms), the cluster of the
    mode that the row climbs to. The columns of the model are found by their names and prepared as in the fit.

    Attributes
    ----------
    model : MODEL
        A model file, written by 'modeseek cluster --save'.
    file : FILE
        Rows with the columns of the model, in any order; - reads text from standard input.
    output : FILE
        Write the rows with their clusters; - prints them. Default: -.
    label_column : NAME
        Name of the column of clusters. Default: cluster.
    """

    model: str
    file: str
    output: Annotated[str, Option(None, "--output -o")] = "-"
    label_column: Annotated[str, Option(None, "--name")] = "cluster"

    def check(self) -> None:
        """Raise `UsageError` for a missing file."""
        from modeseek.cli.early import check_files

        super().check()
        check_files([self.file])


@dataclass(frozen=True)
class SegmentOptions(BaseCommand):
    """Segment an image, or a volume, into regions of similar colour and texture.

    The command prints the regions. -o writes the label image, --overlay the image with the boundaries of the regions,
    --json a summary. It needs scikit-image: pip install 'modeseek[images]'.

    Attributes
    ----------
    picture : IMAGE
        PNG, JPEG, TIFF, BMP, WebP or NPY; TIFF and NPY files may hold volumes.
    output : FILE
        Write the label image: PNG (in colours, up to 256 regions), TIFF (32 bits) or NPY.
    overlay : FILE
        Write the image with the boundaries of the regions: PNG, TIFF or JPEG.
    json : FILE
        Write a summary as JSON; - prints it.
    quiet : flag
        Print notes and errors only.
    spatial_bandwidth : H
        Radius of the kernel in space, in pixels times spacing. Default: 1/40 of the image.
    colour_bandwidth : H
        Radius of the kernel in colour; black and white have distance 100. Default: 10.0.
    threshold : X
        Merge adjacent regions with a dissimilarity up to this value; smaller values give more regions. Default: 3.3.
    n_regions : N[,N...]
        Number of regions, instead of a threshold. Several numbers, such as 5,20,80, write a stack of label images to a
        TIFF or NPY file, one for each number.
    min_size : N
        First merge regions with fewer pixels than this into the neighbour with the closest colour. Default: the
        number of pixels in a square whose side is half the spatial bandwidth.
    connected : flag
        Whether a region is connected. Regions are connected by default.
    spacing : A,B[,C]
        Distance between neighbours along each axis, such as 2.5,1,1. Default: 1.
    channel_axis : N|none
        The axis of channels of a TIFF or NPY file; none for grey. Default: the last one if it has 2 to 8 entries.
    """

    picture: str
    output: Annotated[str | None, Option(RESULTS, "--output -o")] = None
    overlay: Annotated[str | None, Option(RESULTS)] = None
    json: Annotated[str | None, Option(RESULTS)] = None
    quiet: Annotated[bool, Option(RESULTS, "--quiet -q")] = False
    spatial_bandwidth: Annotated[float | None, Option(METHOD)] = None
    colour_bandwidth: Annotated[float, Option(METHOD)] = 10.0
    threshold: Annotated[float, Option(METHOD)] = 3.3
    n_regions: Annotated[str | None, Option(METHOD)] = None
    min_size: Annotated[float | None, Option(METHOD)] = None
    connected: Annotated[bool, Option(METHOD, "--connected/--scattered")] = True
    spacing: Annotated[str | None, Option(METHOD)] = None
    channel_axis: Annotated[str | None, Option(METHOD)] = None


@dataclass(frozen=True)
class DiarizeOptions(BaseCommand):
    """Find who speaks when, from embeddings of windows of speech.

    The command prints the speakers and, with --reference, the error rates. -o writes the turns as RTTM, --timeline a
    picture. A reference needs pyannote.core and pyannote.metrics: pip install 'modeseek[diarization]'.

    Attributes
    ----------
    file : FILE
        Embeddings, one row per window: NPZ with X and optionally times (n, 2), NPY, or a table of numbers.
    output : FILE
        Write the turns as RTTM; - prints them.
    timeline : FILE
        Write a picture of the turns (PNG, SVG, PDF); turns of low confidence are fainter.
    json : FILE
        Write a summary as JSON; - prints it.
    quiet : flag
        Print notes and errors only.
    collar : SECONDS
        Time around each boundary of the reference that is not scored, half of it on each side. Default: 0.0.
    skip_overlap : flag
        Do not score times at which two speakers of the reference speak.
    segments : FILE
        Times of the windows in seconds, in the order of the embeddings: CSV with start and end, .lab or RTTM.
        Default: the times in FILE.
    reference : FILE
        RTTM file with the true turns; the error rates are printed.
    uri : NAME
        Name of the recording in RTTM. Default: name of FILE.
    min_duration : SECONDS
        Shorter windows are not clustered; they are assigned to the nearest speaker, with a low confidence.
        Default: 0.5.
    overlapping : cut|keep
        cut: windows that overlap are cut in the middle of the overlap. keep: times stay as they are, for segments that
        are turns. Default: cut.
    smooth : flag
        Smooth the speakers in time: the most probable sequence of speakers, with a mean turn of 2 s as prior.
    num_speakers : N
        Number of speakers. Default: chosen from the data.
    min_speakers : N
        Minimum number of speakers.
    max_speakers : N
        Maximum number of speakers.
    centre : flag
        Subtract the mean of the embeddings.
    components : N
        Number of principal components to keep.
    whiten : flag
        Scale the principal components to equal variance.
    seed : N
        Random seed; the same seed gives the same turns. Default: 0.
    n_jobs : N
        Number of processor cores; -1 uses all.
    """

    file: str
    output: Annotated[str | None, Option(RESULTS, "--output -o")] = None
    timeline: Annotated[str | None, Option(RESULTS, "--timeline --plot")] = None
    json: Annotated[str | None, Option(RESULTS)] = None
    quiet: Annotated[bool, Option(RESULTS, "--quiet -q")] = False
    collar: Annotated[float, Option(RESULTS)] = 0.0
    skip_overlap: Annotated[bool, Option(RESULTS, "--skip-overlap")] = False
    segments: Annotated[str | None, Option(DATA)] = None
    reference: Annotated[str | None, Option(DATA)] = None
    uri: Annotated[str | None, Option(DATA)] = None
    min_duration: Annotated[float, Option(DATA)] = 0.5
    overlapping: Annotated[str, Option(DATA)] = "cut"
    smooth: Annotated[bool, Option(SPEAKERS, "--smooth")] = False
    num_speakers: Annotated[int | None, Option(SPEAKERS)] = None
    min_speakers: Annotated[int | None, Option(SPEAKERS)] = None
    max_speakers: Annotated[int | None, Option(SPEAKERS)] = None
    centre: Annotated[bool, Option(SPEAKERS, "--centre")] = False
    components: Annotated[int | None, Option(SPEAKERS)] = None
    whiten: Annotated[bool, Option(SPEAKERS, "--whiten")] = False
    seed: Annotated[int, Option(RUN, limits={"min": 0})] = 0
    n_jobs: Annotated[int | None, Option(RUN, "--jobs")] = None


@dataclass(frozen=True)
class ExploreOptions(BaseCommand):
    """Open a page in the browser to watch, compare and control runs of the algorithms.

    The page is served to this computer only; Ctrl-C ends it. It needs Panel and Bokeh: pip install 'modeseek[explore]'.

    Attributes
    ----------
    file : FILE
        Data to start with. The default is an example.
    port : N
        Port of the page. Default: 5808, or a free one.
    no_browser : flag
        Print the address, but do not open a browser.
    """

    file: str | None = None
    port: Annotated[int | None, Option(None, limits={"min": 1, "max": 65535})] = None
    no_browser: Annotated[bool, Option(None, "--no-browser")] = False

    def check(self) -> None:
        """Raise `UsageError` for a missing file."""
        from modeseek.cli.early import check_files

        super().check()
        check_files([] if self.file is None else [self.file])


@dataclass(frozen=True)
class PaperOptions(BaseCommand):
    """Run the experiments of the paper, and write their data, figures and a report on its claims.

    The experiments are sparse, imbalance, clusters, range, sweep, outliers, range-map, absorption, one-run, updates,
    submartingale, gradient, certificate, times and steps. Ctrl-C keeps the finished jobs; the same command then runs
    the remaining jobs.

    Attributes
    ----------
    figures : FIGURE
        The experiments to run. The default is all.
    runs : N
        Repetitions of each setting. Default: 100; 5 with --quick.
    seed : N
        Random seed; the same seed gives the same data, byte for byte. Default: 0.
    n_jobs : N
        Number of processes; -1 uses all cores. It does not change the results. Default: -1.
    out : FOLDER
        Folder for all files. Default: modeseek-paper.
    quick : flag
        Use a small grid and few runs: all figures take a minute or two, but are less certain.
    quiet : flag
        Print errors only.
    scheduler : ADDRESS
        Run the jobs on the workers of a Dask scheduler, such as tcp://127.0.0.1:8786.
    engine : NAME
        Engine of SMS and DSMS; cuda runs many jobs at once on a GPU. Default: auto.
    """

    figures: list[str] | None = None
    runs: Annotated[int | None, Option(None, limits={"min": 1})] = None
    seed: Annotated[int, Option(None, limits={"min": 0})] = 0
    n_jobs: Annotated[int, Option(None, "--jobs")] = -1
    out: Annotated[str, Option(None, "--out -o")] = "modeseek-paper"
    quick: Annotated[bool, Option(None, "--quick")] = False
    quiet: Annotated[bool, Option(None, "--quiet -q")] = False
    scheduler: Annotated[str | None, Option()] = None
    engine: Annotated[str, Option()] = "auto"


@dataclass(frozen=True)
class WarmUpOptions(BaseCommand):
    """Compile the functions that clustering needs, so that later runs start faster.

    Up to three cores are used.

    Numba stores compiled functions on disk for later runs: run this once after the installation, on a server or while
    an image of a container is built. The folder is that of the package, or NUMBA_CACHE_DIR if that variable is set.
    """
