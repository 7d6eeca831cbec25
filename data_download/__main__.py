"""``python -m data_download list | fetch | verify``: the same as ``marginbook data``."""

from marginbook.datasets.command import data

if __name__ == "__main__":
    data(prog_name="python -m data_download")
