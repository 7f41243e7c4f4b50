"""What the command line, Dask fits, pictures and speakers give, kept in golden_commands.json.

The file has two sections. "results" holds labels, numbers and exit statuses, which must never change. "texts" holds
what is printed for people, and may be reworded: `python tests/golden_commands.py --texts` recomputes it alone, and
fails if a result differs. Without `--texts` both are recomputed.

Commands run in this process, in a folder that holds the inputs. File names are relative, so that no path is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import shutil
import tempfile
from contextlib import chdir
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import golden

FILE = Path(__file__).with_name("golden_commands.json")
EXAMPLES, DATA = Path(__file__).parents[1] / "examples", Path(__file__).with_name("data")
ENVIRONMENT = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "FORCE_COLOR": None}
# parts of a JSON record that are words, or names of parameters; and parts that differ between runs
WORDS, FLEETING = ("settings", "message", "outcome_message", "notes"), ("seconds", "version")
SECONDS = re.compile(r"\d[\d,.]* s\b")
EMBEDDED = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)

RANGE = "--algorithm dsms --h-min 0.3 --h-max 1.2 --h-inf 0.6"
MS = "--algorithm ms --bandwidth 0.6"
GRID = f"--{golden.SKETCH} grid --resolution 0.25"
PENGUINS = "--ignore species"
# the commands of a case, and the files that they write
COMMANDS = {
    "csv": ("cluster points.csv -o out.csv --json out.json", "out.csv out.json"),
    "tsv": ("cluster points.tsv -o out.tsv --json out.json", "out.tsv out.json"),
    "parquet": ("cluster points.parquet -o out.parquet --json out.json", "out.parquet out.json"),
    "npy": ("cluster points.npy -o out.npy --json out.json", "out.npy out.json"),
    "npz": ("cluster points.npz -o out.npz --json out.json", "out.npz out.json"),
    "csv to parquet": ("cluster points.csv -q -o out.parquet", "out.parquet"),
    "parquet to csv": ("cluster points.parquet -q -o out.csv", "out.csv"),
    "csv to npz": ("cluster points.csv -q -o out.npz", "out.npz"),
    "rows to standard output": ("cluster points.csv -o -", ""),
    "JSON to standard output": ("cluster points.csv --json -", ""),
    "penguins": (f"cluster penguins.csv {PENGUINS} -o out.csv --json out.json", "out.csv out.json"),
    "one cluster": ("cluster null.csv --json out.json", "out.json"),
    "communities": ("cluster wide.npy --json out.json -o out.csv", "out.json out.csv"),
    "cosine": ("cluster wide.npy --metric cosine --json out.json", "out.json"),
    "unscaled": ("cluster points.csv --scale none --json out.json", "out.json"),
    "columns": ("cluster points.csv --columns height --json out.json --name group -o out.csv", "out.json out.csv"),
    "n_clusters": ("cluster points.csv --n-clusters 4 --json out.json", "out.json"),
    "bounds": ("cluster points.csv --min-clusters 3 --max-clusters 5 --json out.json", "out.json"),
    "noise": ("cluster uneven.csv --min-cluster-size 10 --json out.json -o out.csv", "out.json out.csv"),
    "seed": ("cluster points.csv --seed 3 --json out.json", "out.json"),
    "formulas": ("cluster points.csv -q --guard-formulas --name =group -o out.csv", "out.csv"),
    "dsms": (f"cluster plane.csv {RANGE} -o out.csv --json out.json", "out.csv out.json"),
    "dsms, range from the data": ("cluster plane.csv --algorithm dsms --json out.json", "out.json"),
    "dsms, five chains": (f"cluster plane.csv {RANGE} --chains 5 -o out.csv --json out.json", "out.csv out.json"),
    "sms": ("cluster plane.csv --algorithm sms --bandwidth 0.6 --json out.json", "out.json"),
    "bms": ("cluster plane.csv --algorithm bms --bandwidth 0.6 --json out.json", "out.json"),
    "ms": (f"cluster plane.csv {MS} --json out.json", "out.json"),
    "dsms, grid": (f"cluster plane.csv {RANGE} {GRID} --json out.json", "out.json"),
    "report": (f"cluster penguins.csv {PENGUINS} -q --report out.html", "out.html"),
    "report of a mixture": ("cluster points.csv -q --report out.html", "out.html"),
    "report of dsms": (f"cluster plane.csv {RANGE} -q --report out.html", "out.html"),
    "blocks: csv": ("cluster points.csv --out-of-core -o out.csv --json out.json", "out.csv out.json"),
    "blocks: tsv": (f"cluster points.tsv --out-of-core {MS} -o out.tsv --json out.json", "out.tsv out.json"),
    "blocks: parquet": ("cluster points.parquet --out-of-core -o out.parquet --json out.json", "out.parquet out.json"),
    "blocks: npy": (f"cluster points.npy --out-of-core {RANGE} -o out.npy --json out.json", "out.npy out.json"),
    "blocks: grid": (f"cluster plane.csv --out-of-core {RANGE} {GRID} --json out.json", "out.json"),
    "blocks: two files": ("cluster first.csv second.csv -o out.csv --json out.json", "out.csv out.json"),
    "blocks: to parquet": (f"cluster first.csv second.csv {MS} -q -o out.parquet", "out.parquet"),
    "blocks: report": (f"cluster plane.csv --out-of-core {RANGE} -q --report out.html", "out.html"),
    "label": (
        "cluster points.csv -q --save new.modeseek; label new.modeseek other.csv -o out.csv",
        "out.csv",
    ),
    "label to standard output": (
        f"cluster plane.csv {RANGE} -q --save new.modeseek; label new.modeseek points.csv --name group",
        "",
    ),
    "label after blocks": (
        f"cluster plane.csv {RANGE} {GRID} --out-of-core -q --save new.modeseek; "
        "label new.modeseek points.parquet -o out.parquet",
        "out.parquet",
    ),
    "label by a kept model": ("label model-2.modeseek line.npy -o out.npy", "out.npy"),
    "segment": ("segment still-life.png -o out.npy --json out.json", "out.npy out.json"),
    "segment, finer": (
        "segment still-life.png --colour-bandwidth 5 --threshold 0.4 --scattered -q -o out.png --overlay over.png",
        "out.png over.png",
    ),
    "diarize": ("diarize conversation.npz -o out.rttm --json out.json", "out.rttm out.json"),
    "diarize, scored": ("diarize conversation.npz --reference conversation.rttm --json -", ""),
    "diarize, three speakers": ("diarize conversation.npz --num-speakers 3 -q -o -", ""),
    "paper": ("paper gradient --quick --runs 1 --jobs 1 -q --out paper", "paper/data/gradient.csv"),
    "no such file": ("cluster nothing.csv", ""),
    "not numeric": ("cluster penguins.csv --strict", ""),
    "option of another algorithm": ("cluster points.csv --bandwidth 1", ""),
    "no such choice": ("cluster points.csv --algorithm dms", ""),
    "output is the input": ("cluster points.csv -o points.csv", ""),
}


# ---------------------------------------- commands


def write_inputs(folder):
    """Write the files that the commands read."""
    points = golden.data("overlap")[0]
    texts = {name: golden.data(name)[0] for name in ("plane", "null", "uneven")}
    texts |= {"points": points, "first": points[:120], "second": points[120:], "other": points[::-3] + 0.25}
    for name, rows in texts.items():
        _write_text(folder / f"{name}.csv", rows, ",")
    _write_text(folder / "points.tsv", points, "\t")
    pq.write_table(pa.table({"width": points[:, 0], "height": points[:, 1]}), folder / "points.parquet")
    np.save(folder / "points.npy", points)
    np.save(folder / "line.npy", texts["plane"][:, :1])
    np.save(folder / "wide.npy", golden.data("wide")[0])
    np.savez(folder / "points.npz", X=points, y=np.arange(len(points)) % 2)
    for name in ("penguins.csv", "still-life.png", "conversation.npz", "conversation.rttm"):
        shutil.copy(EXAMPLES / name, folder)
    shutil.copy(DATA / "model-2.modeseek", folder)


def _write_text(path, rows, delimiter):
    lines = [("width", "height"), *(map(repr, row) for row in rows.tolist())]
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines))


def command(case, folder, extra=""):
    """Run the commands of a case in a folder with the inputs; return its results and its texts."""
    lines, outputs = COMMANDS[case]
    return run(lines, outputs.split(), folder, extra)


def run(lines, outputs, folder, extra=""):
    """Run command lines, with an option more on the last of them; return results and texts."""
    from typer.testing import CliRunner

    from modeseek.cli import app

    runner, *earlier = CliRunner(env=ENVIRONMENT), *(shlex.split(line) for line in lines.split(";"))
    last = [*earlier.pop(), *shlex.split(extra)]
    with chdir(folder):
        for arguments in earlier:
            assert runner.invoke(app, arguments).exit_code == 0, arguments
        ended = runner.invoke(app, last, catch_exceptions=False)
        assert ended.exit_code == 0 or not outputs, ended.stderr
        results, texts = {"status": ended.exit_code}, {"stderr": _lines(ended.stderr)}
        for name in outputs:
            _split(name, _content(Path(name)), results, texts)
            _remove(Path(name))
        _remove(Path("paper"))
    if "--json -" in " ".join(last):
        _split("stdout", json.loads(ended.stdout), results, texts)
    elif "-o -" in " ".join(last) or last[0] == "label":
        results["stdout"] = _hash(ended.stdout.encode())
    else:
        texts["stdout"] = _lines(ended.stdout)
    return results, {name: text for name, text in texts.items() if text}


def _split(name, content, results, texts):
    """Put the words of a JSON record with the texts, and what else there is with the results."""
    if isinstance(content, dict):
        texts |= {f"{name}: {word}": content[word] for word in WORDS if word in content}
        content = {key: value for key, value in content.items() if key not in (*WORDS, *FLEETING)}
    results[name] = content


def _lines(text):
    return [SECONDS.sub("# s", line).rstrip() for line in text.splitlines()]


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _content(path):
    """Return what a file says, by its kind: a hash of bytes, of arrays, of embedded data; or a JSON record."""
    match path.suffix:
        case ".json":
            return json.loads(path.read_text())
        case ".npy":
            return array(np.load(path))
        case ".npz":
            with np.load(path) as arrays:
                return [[name, array(arrays[name])] for name in arrays]
        case ".png":
            from PIL import Image

            with Image.open(path) as picture:
                return array(np.asarray(picture))
        case ".parquet":
            table = pq.read_table(path)
            return [[name, array(table[name].to_numpy())] for name in table.column_names if name != "__index_level_0__"]
        case ".html":
            embedded = [_numbers(json.loads(text)) for text in EMBEDDED.findall(path.read_text())]
            return [_hash(_rounded(json.dumps(each, sort_keys=True)).encode()) for each in embedded]
        case ".rttm":
            return path.read_text().splitlines()
    text = path.read_bytes()
    return _hash(_rounded(text.decode()).encode() if path.parts[0] == "paper" else text)


def _numbers(value):
    """Return embedded data of a report without names and colours, which are there for people."""
    if isinstance(value, dict):
        return {
            name: _numbers(each) for name, each in value.items() if name not in ("name", "short", "color", "colour")
        }
    return [_numbers(each) for each in value] if isinstance(value, list) else value


def _rounded(text):
    """Return a text in which numbers have nine digits: the others depend on the order of sums."""
    return re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", lambda number: f"{float(number[0]):.9g}", text)


def _hash(text):
    return hashlib.sha256(text).hexdigest()[:16]


def array(values):
    """Return the type, shape and hash of an array."""
    values = np.asarray(values)
    if values.dtype == object:
        values = values.astype(str)
    plain = values.dtype.newbyteorder("<")
    return [plain.str, list(values.shape), golden.digest(values, plain)]


# ---------------------------------------- the library behind them


def _dask_model(**options):
    import modeseek

    return modeseek.DoublyStochasticMeanShift(**golden.RANGE, random_state=5, **options)


def _dask_array(rows):
    import dask.array as da

    return da.from_array(rows, chunks=(-(-len(rows) // 4), 1))


def _dask_frame(rows):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])]), npartitions=3)


def _lazy(model, X):
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        model.fit(X)
        found = {"labels": array(model.labels_.compute()), "predicted": array(model.predict(X).compute())}
        if hasattr(model, "confidence_"):
            found["confidence"] = array(np.round(model.confidence_.compute(), 10))
    return found | {"n_clusters": int(model.n_clusters_), "centres": model.cluster_centers_.tolist()}


def dask_array(folder):
    import modeseek

    return _lazy(modeseek.ModeSeek(random_state=5), _dask_array(golden.data("overlap")[0]))


def dask_frame(folder):
    import modeseek

    return _lazy(modeseek.ModeSeek(random_state=5), _dask_frame(golden.data("wide")[0]))


def dask_grid(folder):
    """Fit more rows than are brought into memory."""
    rows = np.tile(golden.data("plane")[0], (440, 1)) + 0.1 * golden.normals(6, 52_800, 2)
    return _lazy(_dask_model(**{golden.SKETCH: "grid", "resolution": 0.25}), _dask_array(rows))


def dask_weights(folder):
    X, weights = golden.data("plane")
    model = _dask_model().fit(_dask_array(X), sample_weight=weights)
    return {"labels": array(model.labels_.compute()), "centres": model.cluster_centers_.tolist()}


def dask_scheduler(folder):
    """Run `cluster --scheduler` on a scheduler of threads in this process."""
    import dask
    from distributed import LocalCluster

    lines = {
        "parquet": "cluster points.parquet -q",
        "csv": "cluster points.csv -q",
        "two files": f"cluster first.csv second.csv {MS} -q",
    }
    found = {}
    with (
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}),
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, memory_limit=0
        ) as cluster,
    ):
        for name, line in lines.items():
            away = f"{line} --scheduler {cluster.scheduler_address} -o out.parquet --json out.json"
            found[name], _ = run(away, ["out.parquet", "out.json"], folder)
    return found


def volume(folder):
    """Segment a grey volume with spacing, and a picture with a mask."""
    from modeseek.images import segment

    grey = golden.uniforms(8, 12, 24, 24) * 0.2 + (np.arange(24) >= 12) * 0.6
    picture = np.repeat(grey[0][:, :, None], 3, axis=2)
    mask = np.arange(24) < 18
    return {
        "volume": array(segment(grey, channel_axis=None, spacing=(2.0, 1.0, 1.0))),
        "mask": array(segment(picture, mask=np.broadcast_to(mask, (24, 24)), start_label=1)),
    }


def speakers(folder):
    """Cluster embeddings by the classes for other pipelines."""
    from modeseek.diarization import PyannoteClustering, SpeakerClusterer

    with np.load(EXAMPLES / "conversation.npz") as arrays:
        embeddings = arrays["X"]
    hard, _, centroids = PyannoteClustering(constrained=True)(embeddings=embeddings[:98].reshape(49, 2, -1))
    return {
        "predicted": array(SpeakerClusterer().predict(embeddings)),
        "hard": array(hard),
        "centroids": [float(np.linalg.norm(each)) for each in centroids],
    }


CALLS = {
    "dask array": dask_array,
    "dask frame": dask_frame,
    "dask grid": dask_grid,
    "dask weights": dask_weights,
    "dask scheduler": dask_scheduler,
    "segment a volume": volume,
    "speakers": speakers,
}


def answers(folder):
    """Return the results and texts of all cases; inputs and outputs are written to a folder."""
    write_inputs(folder)
    found = {case: command(case, folder) for case in COMMANDS}
    results = {case: results for case, (results, _) in found.items()}
    results |= {case: call(folder) for case, call in CALLS.items()}
    return {"results": results, "texts": {case: texts for case, (_, texts) in found.items() if texts}}


def write(found):
    """Write the file, with one case per line."""
    sections = []
    for name, cases in found.items():
        lines = ",\n".join(f"{json.dumps(case)}: {json.dumps(kept)}" for case, kept in cases.items())
        sections.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    FILE.write_text("{\n" + ",\n".join(sections) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", action="store_true", help="recompute only the texts")
    texts_only = parser.parse_args().texts
    with tempfile.TemporaryDirectory() as folder:
        found = answers(Path(folder))
    if texts_only:
        kept = json.loads(FILE.read_text())["results"]
        wrong = {case: golden.differences(found["results"][case], kept.get(case, {})) for case in found["results"]}
        wrong = {case: names for case, names in wrong.items() if names}
        if wrong:
            raise SystemExit(f"results differ, nothing was written: {wrong}")
        found["results"] = kept
    write(found)
    print({case: kept.get("status", 0) for case, kept in found["results"].items()})


if __name__ == "__main__":
    main()
