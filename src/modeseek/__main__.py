"""`python -m modeseek` is the command `modeseek`."""

from modeseek.cli import main

if __name__ == "__main__":
    main()
