"""The claims about the figures: verdicts follow the results and the benchmark that they read."""

import json

import numpy as np
import pandas as pd
import pytest

from marginbook.base.project import root
from marginbook.claims import Verdict, stored_tables
from marginbook.drm.claims import figures_1_2, figures_3_iterations, figures_4_5

CHECKS = [
    figures_1_2.check_fig_1, figures_1_2.check_fig_2,
    figures_3_iterations.check_fig_3, figures_3_iterations.check_tens,
    figures_4_5.check_fig_4, figures_4_5.check_fig_5,
]  # fmt: skip


@pytest.fixture
def write(monkeypatch, tmp_path):
    """Return a function that puts a table where the claims look for it."""
    for module in (figures_1_2, stored_tables):
        monkeypatch.setattr(module, "resource", lambda *parts: tmp_path.joinpath(*parts))

    def put(frame, *parts):
        path = tmp_path.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(path, index=False)

    return put


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("check", CHECKS)
def test_without_results_nothing_is_testable(check):
    evidence = check()
    assert evidence.verdict == Verdict.NOT_TESTABLE
    assert "benchmarks/drm_scaling.py" in evidence.why or "marginbook experiment run" in evidence.why


def times(power, order):
    """Return seconds that grow like n^power, in an order of the algorithms, between other lines."""
    rows = [
        {"what": f"{name} on {data}, n", "x": "n", "value": n, "seconds": (1 + place) * 1e-6 * n**power}
        for data in ("ijcnn1", "shuttle")
        for place, name in enumerate(order)
        for n in (1000, 2000, 8000)
    ]
    rows.append({"what": "one-pass fit, n", "x": "n", "value": 1000, "seconds": 1.0})
    return pd.DataFrame(rows).assign(python="3", numpy="2", machine="x")


@pytest.mark.parametrize(
    ("power", "order", "verdict"),
    [
        (1.0, ("PPA", "GD", "APG"), Verdict.REPRODUCED),
        (1.0, ("APG", "GD", "PPA"), Verdict.UNDECIDED),
        (2.0, ("PPA", "GD", "APG"), Verdict.NOT_REPRODUCED),
    ],
    ids=["as printed", "order turned", "quadratic"],
)
def test_times_are_linear_and_ordered(write, power, order, verdict):
    write(times(power, order), *figures_1_2.SCALING)
    evidence = figures_1_2.check_fig_1()
    assert evidence.verdict == verdict
    assert f"n^{power:.2f} to n^{power:.2f}" in evidence.measured
    of_parts = {Verdict.REPRODUCED: np.inf, Verdict.UNDECIDED: -4, Verdict.NOT_REPRODUCED: -6}[verdict]
    assert evidence.slack == pytest.approx(min(0.2 - abs(power - 1), of_parts))


def convergence(rates, iterations):
    """Return results of two sets: paths that shrink at a rate, iterations for each beta."""
    rows = []
    for name in ("ijcnn1", "shuttle"):
        for method, rate in rates.items():
            path = [float(rate**t) for t in range(51)]
            row = {"dataset": name, "split": 1, "method": method, "objective_path": json.dumps(path)}
            row |= {"iterations": 7, "multiplications_printed": 9.0 if method == "GD" else 5.0}
            for beta, count in zip(("1e-02", "1e+02", "1e+06"), iterations, strict=True):
                row |= {f"iterations_{beta}": count, f"kkt_residual_{beta}": 1e-3}
            rows.append(row)
    return pd.DataFrame(rows)


FAST_TO_SLOW = {"GD": 0.1, "APG": 0.5, "PPA": 0.9}


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        (FAST_TO_SLOW, Verdict.REPRODUCED),
        ({"GD": 0.9, "APG": 0.5, "PPA": 0.1}, Verdict.NOT_REPRODUCED),
        ({"GD": 0.1, "APG": 0.9, "PPA": 0.5}, Verdict.UNDECIDED),
    ],
    ids=["as printed", "turned", "APG slowest"],
)
def test_iterations_are_counted_on_the_path(write, rates, verdict):
    write(convergence(rates, (100, 10, 2)), "results", "drm", "fig-3.csv")
    evidence = figures_1_2.check_fig_2()
    assert evidence.verdict == verdict
    assert "ijcnn1: GD " in evidence.why


def test_algorithms_that_never_arrive_are_not_equal(write):
    """At a rate of 0.9 a millionth is not reached in 50 iterations: nobody knows which would be first."""
    write(convergence(dict.fromkeys(FAST_TO_SLOW, 0.9), (100, 10, 2)), "results", "drm", "fig-3.csv")
    evidence = figures_1_2.check_fig_2()
    assert evidence.verdict == Verdict.NOT_REPRODUCED
    assert evidence.measured.startswith("GD needs the fewest on 0 of 2, PPA the most on 0;")
    write(convergence({"GD": 0.1, "APG": 0.9, "PPA": 0.9}, (100, 10, 2)), "results", "drm", "fig-3.csv")
    assert figures_1_2.check_fig_2().verdict == Verdict.NOT_REPRODUCED


def test_arrival_is_the_first_iteration_near_the_optimum():
    """Rates of 0.1: after six iterations a millionth is left."""
    assert figures_1_2.arrival(json.dumps([10.0 ** -(t * 1.001) for t in range(9)])) == 6
    assert figures_1_2.arrival("[1.0, 0.5, 0.25]") == np.inf
    assert figures_1_2.arrival("[2.0, -1e-17]") == 1


@pytest.mark.parametrize(
    ("iterations", "verdict"),
    [
        ((150, 20, 2), Verdict.REPRODUCED),
        ((20, 20, 2), Verdict.UNDECIDED),  # two orders of the betas in six, and on two sets: one ninth
        ((20, 150, 2), Verdict.NOT_REPRODUCED),  # half of the parts
        ((20, 30, 40), Verdict.NOT_REPRODUCED),
    ],
)
def test_iterations_fall_with_beta(write, iterations, verdict):
    write(convergence(FAST_TO_SLOW, iterations), "results", "drm", "fig-3.csv")
    evidence = figures_3_iterations.check_fig_3()
    assert evidence.verdict == verdict
    assert f"at most {iterations[0]} iterations at beta = 1e-02" in evidence.measured
    assert f"at most {iterations[2]} at 1e+06" in evidence.measured


@pytest.mark.parametrize(
    ("iterations", "verdict"),
    [
        ((50, 20, 2), Verdict.REPRODUCED),
        ((150, 20, 2), Verdict.UNDECIDED),
        ((150, 51, 2), Verdict.UNDECIDED),
        ((150, 100, 51), Verdict.NOT_REPRODUCED),
    ],
    ids=["all", "two of three", "one of three", "none"],
)
def test_a_few_tens_of_iterations_are_usual(write, iterations, verdict):
    write(convergence(FAST_TO_SLOW, iterations), "results", "drm", "fig-3.csv")
    evidence = figures_3_iterations.check_tens()
    assert evidence.verdict == verdict
    assert (evidence.slack > 0) == (iterations[1] <= 50)


def ablated(gain, columns, method):
    """Return results where the DRM is `gain` better than kernel ridge on set j times j."""
    rows = []
    for j in range(1, 11):
        for split in (1, 2):
            for model in ("DRM", "KRR"):
                for kernel in "RP":
                    value = 0.5 + (gain * j / 100 if model == "DRM" else 0.0)
                    row = {"dataset": f"set{j}", "split": split, "method": f"{model}({kernel})"}
                    rows.append(row | dict.fromkeys(columns, value))
    return pd.DataFrame(rows)[lambda frame: frame["method"].str.contains(method, regex=False)]


@pytest.mark.parametrize(
    ("gain", "verdict", "higher"),
    [(1, Verdict.REPRODUCED, 10), (-1, Verdict.NOT_REPRODUCED, 0), (0, Verdict.NOT_REPRODUCED, 0)],
)
def test_the_drm_is_tested_against_kernel_ridge(write, gain, verdict, higher):
    columns = ("g_mean", "g_mean_none", "g_mean_max_abs")
    write(ablated(gain, columns, "("), "results", "drm", "table-8.csv")
    evidence = figures_4_5.check_fig_4()
    assert evidence.verdict == verdict
    assert evidence.measured.count(f"kernel, on {higher} of 10 sets") == 2
    assert evidence.slack == pytest.approx(gain * 0.055)


def test_the_honest_rule_reads_the_scaling_that_training_chose(write):
    """By the paper's rule the DRM is ahead everywhere, by the honest one nowhere."""
    ahead = ablated(1, ("g_mean", "g_mean_none", "g_mean_max_abs"), "(")
    write(ahead.assign(g_mean=0.5), "results", "drm", "table-8.csv")
    paper, honest = figures_4_5.check_fig_4().why.split("With scaling chosen in training ")
    assert paper.count("10 higher, 0 lower of 10") == 2
    assert honest.count("0 higher, 0 lower of 10") == 2


def test_one_kernel_ahead_and_one_behind_is_what_exchanged_machines_have_too(write):
    columns = ("g_mean", "g_mean_none", "g_mean_max_abs")
    both = pd.concat([ablated(1, columns, "(R)"), ablated(-1, columns, "(P)")])
    write(both, "results", "drm", "table-8.csv")
    assert figures_4_5.check_fig_4().verdict == Verdict.UNDECIDED


def test_points_of_the_curves_are_counted(write):
    """Ten sets, two betas: at the second beta the chosen one is the same on both sides."""
    frame = ablated(1, ("best_1e-01", "best_1e+00", "chosen_1e-01"), "(").assign(**{"chosen_1e+00": 0.7})
    frame.loc[frame["dataset"] == "set1", "best_1e-01"] = 0.5
    frame["loo_1e-01"] = 0.0
    counts = figures_4_5.curve_counts(frame)
    assert counts["R", "best"] == (19, 1, 0)
    assert counts["P", "chosen"] == (10, 10, 0)
    write(frame, "results", "drm", "fig-5.csv")
    evidence = figures_4_5.check_fig_5()
    # 95 % with the best parameters, 50 % with the chosen ones: with those, exchanged machines do as well
    assert evidence.verdict == Verdict.UNDECIDED
    assert evidence.slack == pytest.approx(0.95 - 0.9)
    assert "for 0 of 2 kernels with the chosen parameters, for 2 with the best ones" in evidence.reading
    write(frame.assign(**{"chosen_1e+00": frame["best_1e+00"]}), "results", "drm", "fig-5.csv")
    assert figures_4_5.check_fig_5().verdict == Verdict.REPRODUCED
    write(ablated(-1, ("best_1e-01", "chosen_1e-01"), "("), "results", "drm", "fig-5.csv")
    assert figures_4_5.check_fig_5().verdict == Verdict.NOT_REPRODUCED


def test_the_caption_says_who_needs_most_iterations():
    page = root() / "notebooks" / "drm" / "04_large_data.md"
    said = "PPA needs the most iterations on every set, on ijcnn1 as many as APG"
    assert said in page.read_text("utf-8")
    for name, rows in figures_1_2.convergence().items():
        needed = {each: figures_1_2.arrival(row["objective_path"]) for each, row in rows.items()}
        assert needed["PPA"] == max(needed.values())
        assert (needed["APG"] == needed["PPA"]) == (name == "ijcnn1")
