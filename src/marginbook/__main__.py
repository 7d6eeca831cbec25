"""``python -m marginbook``: the command line where no script folder is on the path."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="marginbook")
