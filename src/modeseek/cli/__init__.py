"""The command `modeseek`: the composition root, which puts rooms together and has no logic of its own."""

from modeseek.cli.app import app, main
