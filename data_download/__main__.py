"""``python -m data_download list | fetch | verify``: the same as ``marginbook data``."""

from marginbook.cli.stopping import one_sentence

if __name__ == "__main__":
    with one_sentence():
        from marginbook.datasets.command import data

        data(prog_name="python -m data_download")
