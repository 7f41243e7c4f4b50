"""The command `modeseek cluster`."""

import inspect
import sys
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import fields
from itertools import chain
from typing import Any, NoReturn

from modeseek._common.progress import show_progress
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek.cli.commands import UsageError
from modeseek.cli.messages import library_errors, name_setting, option_name, print_note
from modeseek.cli.options import DEFAULT_ALGORITHM, ClusterOptions
from modeseek.cli.screen import show_result
from modeseek.estimators import ESTIMATORS
from modeseek.pipeline import DataOptions, Outputs, PipelineInterrupted, cluster_file


def run(options: ClusterOptions) -> None:
    """Cluster the files and print the result."""
    if options.out_of_core is False and len(options.files) > 1:
        raise UsageError("--in-memory takes one file: several files are read in chunks, one after the other.")
    estimator = build_estimator(options)
    data = DataOptions(**_given(options, [each.name for each in fields(DataOptions)]))
    outputs = Outputs(**_given(options, [each.name for each in fields(Outputs)]), name_setting=name_setting)
    try:
        with library_errors(), nullcontext() if options.quiet else show_progress("modeseek") as line:
            result = cluster_file(
                options.files,
                estimator,
                data,
                outputs,
                out_of_core=options.out_of_core,
                scheduler=options.scheduler,
                resume=not options.restart,
                progress=line,
                notify=print_note,
            )
    except PipelineInterrupted as interruption:
        if interruption.result is not None and not options.quiet:
            show_result(interruption.result, outputs)
        _report_interruption(interruption, outputs)
    if not options.quiet:
        show_result(result, outputs)


def _report_interruption(interruption: PipelineInterrupted, outputs: Outputs) -> NoReturn:
    if interruption.result is not None:
        names = [f"'{path}'" for path in outputs.paths().values()]
        names += ["standard output"] if STANDARD_STREAM in (outputs.rows, outputs.json) else []
        text = (
            f"the result so far was written to {', '.join(names)}"
            if names
            else "the result so far is shown above; -o FILE writes it"
        )
        text = f"interrupted: {text}."
    elif interruption.where:
        resumed = (
            "give the same command again to resume" if interruption.resumable else "nothing is saved without -o FILE"
        )
        text = f"interrupted {interruption.where}: {resumed}."
    else:
        text = "interrupted before there was a result: nothing was written."
    print(text, file=sys.stderr)
    raise KeyboardInterrupt


def build_estimator(options: ClusterOptions) -> Any:
    """Return the estimator for the options.

    Raises
    ------
    UsageError
        If a value is unknown, or an option is not a parameter of the algorithm.
    """
    algorithm = options.algorithm or DEFAULT_ALGORITHM
    accepted = {each: inspect.signature(kind).parameters for each, kind in ESTIMATORS.items()}
    parameters = _given(options, chain(*accepted.values()))
    # the seed has a default, and algorithms without randomness do not take one
    if "random_state" not in accepted[algorithm]:
        del parameters["random_state"]
    for name in parameters:
        if name not in accepted[algorithm]:
            owners = [each for each in ESTIMATORS if name in accepted[each]]
            raise UsageError(_misplaced(name, options.algorithm, owners))
    if "nu" in parameters:
        with suppress(ValueError):
            parameters["nu"] = float(parameters["nu"])
    if options.sketch == "none":
        parameters["sketch"] = None
    return ESTIMATORS[algorithm](**parameters, verbose=int(not options.quiet))


def _given(options: ClusterOptions, names: Iterable[str]) -> dict[str, Any]:
    """Return the options that have one of these names and a value."""
    wanted = {*names}
    return {name: value for name, value in vars(options).items() if name in wanted and value is not None}


def _misplaced(option: str, algorithm: str | None, owners: list[str]) -> str:
    name = option_name(option)
    which = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} or {owners[-1]}"
    if algorithm is None:
        return f"{name} is an option of another algorithm: add --algorithm {which}."
    if option in ("h_min", "h_max", "h_inf") and algorithm != DEFAULT_ALGORITHM:
        remedy = f"{algorithm} has one bandwidth; use --bandwidth."
    elif option == "bandwidth" and algorithm != DEFAULT_ALGORITHM:
        remedy = f"{algorithm} has a range of bandwidths; use --h-min, --h-max and --h-inf."
    else:
        remedy = f"leave it out, or use --algorithm {which}."
    return f"{name} is not an option of --algorithm {algorithm}: {remedy}"
