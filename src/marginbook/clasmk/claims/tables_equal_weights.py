"""A claim about our results: does learning the weights pay in Table 4, against weights that are equal?"""

from __future__ import annotations

from ...claims import Evidence, Rival, claim, decide
from ...claims.printed_tables import LEVEL, paired
from ..experiments.table_4_solvers import LAYERS
from ..paper.printed import NOTEBOOK, PAPER_TABLES
from .tables import LAYER_SOLVERS_CSV, REGISTRY, local_apart, means_of, with_columns
from .tables_table_4 import of_the_paper

EQUAL, LEAST = "equal weights", "global minimum"


@claim(
    "clasmk/equal-weights",
    kind="ours",
    where="Table 4, the columns CLASMK-ML and 2L-CLASMK-ML; Algorithm 1",
    statement="on the sets of Table 4 equal weights classify better than weights learned by (33), in one "
    "layer and in two",
    notebook=f"{NOTEBOOK}#clasmk-equal-weights",
    depends=(LAYER_SOLVERS_CSV, REGISTRY),
    rivals=(Rival("the learned ones better", {"first": LEAST, "second": EQUAL}),),
)
def check_equal_weights(*, first: str = EQUAL, second: str = LEAST) -> Evidence:
    """Compare accuracies over the sets, in one layer and in two.

    A layer counts if equal weights are better on average, and significantly so by Wilcoxon's test.
    """
    claimed = "better in one layer and in two"
    names = [f"{layers}: {solver}" for layers in LAYERS for solver in (EQUAL, LEAST)]
    frame = with_columns(means_of("layer-solvers", "accuracy"), *names)
    if frame is None:
        return PAPER_TABLES.nothing(claimed, "layer-solvers")
    told, better, slack, without = [], 0, [], []
    rest = frame.loc[of_the_paper(frame.index)]
    for layers in LAYERS:
        higher, lower, number, by, p = paired(frame[f"{layers}: {first}"], frame[f"{layers}: {second}"])
        better += by > 0 and p < LEVEL
        slack.append(by)
        told.append(
            f"{layers} higher on {higher} of {number} sets, lower on {lower}, by {by:+.2f} points "
            f"(p = {p:.2g})"
        )
        higher, _, number, by, p = paired(rest[f"{layers}: {first}"], rest[f"{layers}: {second}"])
        without.append(f"{layers} higher on {higher} of {number}, by {by:+.2f} (p = {p:.2g})")
    ours = PAPER_TABLES.results("layer-solvers")
    halves = 0 if ours is None else int(ours.groupby("dataset")["split"].nunique().min())
    return Evidence(
        verdict=decide(better == len(LAYERS)),
        measured="; ".join(told),
        claimed=claimed,
        slack=float(min(slack)),
        why="Differences are equal minus learned weights, with the same halves, features and "
        f"classifier. Our weights are the global minimum of (33). {local_apart()}"
        + (
            f" Without {', '.join(names_out)}, whose public version is not that of the paper: "
            f"{'; '.join(without)}."
            if (names_out := [str(name) for name in frame.index.difference(rest.index)])
            else ""
        ),
        sizes={"sets": len(frame), "halves": halves},
    )
