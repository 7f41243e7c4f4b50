"""The command `modeseek`: parses options, calls the library and prints."""

from modeseek.cli.app import app, main
