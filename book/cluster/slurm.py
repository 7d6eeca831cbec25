"""The full protocol of every experiment on SLURM: python slurm.py, where jobs can be submitted."""

from dask_jobqueue import SLURMCluster

from marginbook.experiments import experiments, export, run

JOBS = 8  # of one node each


def cluster() -> SLURMCluster:
    """Return a scheduler in this process; its workers come in jobs of one node, one for each core."""
    return SLURMCluster(
        queue="batch",
        cores=16,
        processes=16,  # one thread a worker: a task is one process with one BLAS thread
        memory="64GB",
        walltime="08:00:00",
        local_directory="/tmp",  # a disk of the node, not the shared one
        job_script_prologue=[
            "source $HOME/marginbook/.venv/bin/activate",
            "export MARGINBOOK_CACHE=$HOME/marginbook-cache",  # data, fetched once, seen by all nodes
        ],
        # workers leave one after the other before the job ends: what they are at is done elsewhere
        worker_extra_args=["--lifetime", "7h", "--lifetime-stagger", "30m"],
        scheduler_options={"dashboard_address": None},
    )


def main() -> None:
    """Run what is missing; started again after whatever ended it, it goes on from there."""
    with cluster() as workers:
        workers.scale(jobs=JOBS)
        for name in experiments():
            run(name, "paper", dask=workers.scheduler_address)
            export(name)


if __name__ == "__main__":
    main()
