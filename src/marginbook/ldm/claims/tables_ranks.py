"""Claims about who is ahead over all data sets in our runs: averages, rank tests, and the intercept."""

from __future__ import annotations

from ...claims import Evidence, claim, share
from ...claims.printed_tables import paired
from ..paper.printed import KINDS, LEVEL, printed
from .tables_wins import contest, nothing, scores, win_tie_loss

#: a peer and the LDM with equal chances: neither has an intercept, or both have
FAIR = {"neither": ("LDM", "SVM-0"), "both": ("LDM+1", "SVM")}


def order(table: str) -> Evidence:
    """Ask whether, in our runs, the LDM's average is the best, and its lead over each peer is significant."""
    wide = scores(table)
    claimed = "highest average, ahead of every peer"
    if wide is None:
        return nothing(claimed, table)
    wanted = [name for name in printed(table).means.columns if name in wide.columns]
    means = wide.groupby(level="dataset", sort=False)[wanted].mean()
    whole = means.dropna()
    if "LDM" not in wanted or len(wanted) < 2 or len(whole) < 2:
        return nothing(claimed, table)
    averages = whole.mean()
    parts, told = [bool(averages["LDM"] >= averages.max())], []
    for peer in (name for name in wanted if name != "LDM"):
        ahead, behind, pairs, mean, p = paired(means["LDM"], means[peer])
        parts.append(mean > 0 and p < LEVEL)
        lines = contest(wide, "LDM", peer)
        told.append(
            f"{peer}: higher on {ahead}, lower on {behind} of {pairs} sets, p = {p:.2g}, win/tie/loss "
            f"{win_tie_loss(lines['paired'])} by the paired and {win_tie_loss(lines['corrected'])} by the "
            "corrected test"
        )
    shown = ", ".join(f"{name} {value:.3f}" for name, value in averages.items())
    theirs = printed(table).means.loc[whole.index, wanted].mean()
    return Evidence(
        share(sum(parts), len(parts)),
        f"averages {shown}",
        ", ".join(f"{name} {value:.3f}" for name, value in theirs.items()),
        float(averages["LDM"] - averages.drop("LDM").max()),
        f"Averages over the {len(whole)} sets that all of these have, printed ones too. Against each peer, "
        f"Wilcoxon's test over the sets, and the splits' tests on each: {'; '.join(told)}. Parts: the best "
        f"average, and a significant lead (level {LEVEL}) over each peer.",
        {"sets": len(whole), "methods": len(wanted)},
    )


@claim(
    "ldm/table-2-order",
    kind="experiment",
    where="Section 4.2",
    statement="run again with linear kernels, the LDM has the best average and is ahead of every peer",
    notebook="ldm/04_regular_data#ldm-table-2-order",
    depends=("results/ldm/table-2.csv",),
)
def check_table_2_order() -> Evidence:
    """Test the linear results over the data sets."""
    return order("table-2")


@claim(
    "ldm/table-3-order",
    kind="experiment",
    where="Section 4.2",
    statement="run again with rbf kernels, the LDM has the best average and is ahead of every peer",
    notebook="ldm/04_regular_data#ldm-table-3-order",
    depends=("results/ldm/table-3.csv",),
)
def check_table_3_order() -> Evidence:
    """Test the results with the rbf kernel over the data sets."""
    return order("table-3")


@claim(
    "ldm/table-4-order",
    kind="experiment",
    where="Section 4.3",
    statement="run again on the large sets that can be had, the LDM has the best average and is ahead of "
    "every peer",
    notebook="ldm/05_large_scale#ldm-table-4-order",
    depends=("results/ldm/table-4.csv",),
)
def check_table_4_order() -> Evidence:
    """Test the results on the large sets over the data sets."""
    return order("table-4")


@claim(
    "ldm/intercept",
    kind="experiment",
    where="Sections 2 and 4.2",
    statement="the LDM's lead over the SVM is that of the margin distribution: it is there when neither or "
    "both have an intercept",
    notebook="ldm/04_regular_data#ldm-intercept",
    depends=("results/ldm/table-2.csv", "results/ldm/table-3.csv"),
)
def check_intercept() -> Evidence:
    """Test the two fair contests, for each kernel, over the data sets; and what the intercept alone gives."""
    parts, told, leads, sets = [], [], [], 0
    for table in ("table-2", "table-3"):
        wide = scores(table)
        if wide is None:
            continue
        means = wide.groupby(level="dataset", sort=False).mean()
        for pair, label in [*((FAIR[k], k) for k in FAIR), (("LDM", "SVM"), "only the SVM"),
                            (("SVM", "SVM-0"), ""), (("LDM+1", "LDM"), "")]:  # fmt: skip
            if not set(pair) <= set(means):
                continue
            ahead, behind, pairs, mean, p = paired(means[pair[0]], means[pair[1]])
            points = round(100 * mean, 2) + 0.0  # no minus before a zero
            text = (
                f"{pair[0]} over {pair[1]} {points:+.2f} points, higher on {ahead}, lower on {behind} of "
                f"{pairs}, p = {p:.2g}"
            )
            told.append(f"{KINDS[table]}: {text}")
            if label in FAIR:
                parts.append(mean > 0 and p < LEVEL)
                leads.append(f"{KINDS[table]}, {label}: {points:+.2f}")
                sets = max(sets, pairs)
    if not parts:
        return nothing("a lead in each")
    return Evidence(
        share(sum(parts), len(parts)),
        f"a significant lead in {sum(parts)} of {len(parts)} fair contests; mean leads in points: "
        f"{'; '.join(leads)}",
        "a lead in each",
        None,
        "The paper writes both models without an intercept; common SVM programs have one. SVM-0 has none, "
        f"LDM+1 has a constant feature or a constant added to the kernel. {'; '.join(told)}. Wilcoxon's test "
        f"over the data sets, level {LEVEL}.",
        {"sets": sets, "contests": len(parts)},
    )
