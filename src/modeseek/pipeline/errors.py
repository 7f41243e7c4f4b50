"""Errors of the pipeline. Their fields let a program, such as the command, write a different message."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeseek._storage.input_file import STANDARD_STREAM

if TYPE_CHECKING:
    from modeseek.pipeline.result import PipelineResult


class OptionError(ValueError):
    """An option of the pipeline that cannot be used as given.

    Attributes
    ----------
    option : str
        A parameter of `cluster_file`, or a field of `DataOptions` or `Outputs`.
    problem : str
        What is wrong and what to do; this text follows the name of the option in the message.
    """

    def __init__(self, option: str, problem: str):
        self.option, self.problem = option, problem
        super().__init__(f"{option} {problem}")


class OutputConflict(ValueError):
    """Two outputs, or an output and an input, have the same path.

    Attributes
    ----------
    path : str
        The path; "-" for standard output.
    output : str
        The field of `Outputs` with this path.
    other : str
        What else has this path: a field of `Outputs`, or a description such as "an input file".
    """

    def __init__(self, path: str, output: str, other: str):
        self.path, self.output, self.other = path, output, other
        shown = "standard output" if path == STANDARD_STREAM else f"'{path}'"
        super().__init__(f"{shown} is both {output} and {other}: choose another path for {output}.")


class ResumeMismatch(ValueError):
    """The resume state in the folder next to the output belongs to a different call.

    Attributes
    ----------
    folder : Path
        The folder with the state.
    name : str
        What differs: a parameter of the estimator, an option, "version" or "files".
    old, new : object
        The values in the saved call and in this call. For "files", each is a list of [path, size, modification time].
    """

    def __init__(self, folder: Path, name: str, old: Any, new: Any):
        self.folder, self.name, self.old, self.new = folder, name, old, new
        super().__init__(
            f"'{folder}' holds the state of an interrupted call, but {self.difference}: repeat that call, or pass "
            "resume=False to start over."
        )

    @property
    def difference(self) -> str:
        """The difference as a clause, such as "n_clusters was 2 and is now 3"."""
        if self.name == "files":
            before = {path for path, *_ in self.old or ()}
            changed = [each[0] for each in self.new if each not in self.old]
            return (
                f"'{changed[0]}' has changed since" if before.issuperset(changed) and changed else "it read other files"
            )
        return f"{self.name} was {self.old} and is now {self.new}"


class SchedulerError(RuntimeError):
    """A Dask scheduler cannot be used.

    Attributes
    ----------
    address : str
        The address of the scheduler.
    """

    def __init__(self, address: str, message: str):
        self.address = address
        super().__init__(message)


class PipelineInterrupted(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C).

    Attributes
    ----------
    result : PipelineResult or None
        The result when the fit was interrupted, which was written to the outputs; None if there was no result.
    where : str
        The step that was interrupted, as a clause; "" for a fit in memory or on Dask.
    resumable : bool
        Whether the same call resumes from this point.
    """

    def __init__(self, result: PipelineResult | None, where: str = "", *, resumable: bool = False):
        super().__init__(where)
        self.result, self.where, self.resumable = result, where, resumable
