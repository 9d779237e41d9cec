#!/usr/bin/env python3
"""The first certified fits on real data, side by side with LIBLINEAR and scikit-learn: time to a certified gap, what
the peers' default tolerances are worth, peak memory, the price of `certify`. Writes its section of docs/benchmarks.md."""

import time

import _common as common

common.require()
import peers  # noqa: E402  (after the check that they are installed)
import problems  # noqa: E402
from sklearn.linear_model import Lasso, LogisticRegression, Ridge  # noqa: E402
from sklearn.svm import SVC, LinearSVC  # noqa: E402

TOLERANCES = (1e-3, 1e-6)
TIME_LIMIT = 60  # seconds a fit
LAMBDAS = (("1/n", lambda n: 1 / n), ("1e-3", 1e-3))

LIBLINEAR = {("hinge", "l2"): 3, ("squared-hinge", "l2"): 1, ("logistic", "l2"): 0, ("logistic", "l1"): 6,
             ("squared", "l2"): 11, ("absolute", "l2"): 13}


def scikit_learn(problem):
    """Name and estimator with the same objective at default tolerances, or None."""
    free, c, rows = problem.free, peers.cost(problem), problems.load(problem.dataset).rows
    kind = (problem.loss, problem.penalty)
    if kind == ("logistic", "l2"):
        return "LogisticRegression lbfgs", LogisticRegression(C=c, fit_intercept=free)
    if kind == ("logistic", "l1"):
        solver = "saga" if free else "liblinear"
        return f"LogisticRegression {solver}", LogisticRegression(penalty="l1", solver=solver, C=c, fit_intercept=free)
    if kind == ("squared", "l2"):
        return "Ridge", Ridge(alpha=rows * problem.lam, fit_intercept=free)
    if kind == ("squared", "l1"):
        return "Lasso", Lasso(alpha=problem.lam, fit_intercept=free)
    if problem.loss in ("hinge", "squared-hinge") and not free:
        return "LinearSVC", LinearSVC(loss=problem.loss.replace("-", "_"), C=c, fit_intercept=False)
    if problem.loss == "hinge" and rows < 10000:  # LIBSVM takes minutes on more rows
        return "SVC linear", SVC(kernel="linear", C=c)
    return None


def label(problem, lam):
    return [problem.dataset, f"{problem.loss} {problem.penalty}", problem.bias, lam]


def fit_ours(problem, tol):
    done, _ = common.fastest(lambda: problems.train(problem, tol, "--time-limit", TIME_LIMIT), lambda r: r[0].seconds)
    if done.code not in (0, 4):
        raise RuntimeError(f"{problem}: {done.stderr}")
    return done


def distance(problem, answer, dual):
    return problems.objective(problem, answer.weights, answer.bias) / dual - 1


def measure(problem, lam, results):
    runs = [fit_ours(problem, tol) for tol in TOLERANCES]
    loose, tight = (run.json for run in runs)
    dual = max(loose["dual"], tight["dual"])
    row = label(problem, lam) + [tight["solver"], min(j["seconds"]["load"] for j in (loose, tight))]
    for run in runs:
        j = run.json
        row += [run.seconds, j["seconds"]["solve"], f"{j['passes']:.0f}",
                common.number(j["relative_gap"]) + ("" if j["status"] == "optimal" else f" ({j['status']})")]
    results["ours"].append(row)

    solver = LIBLINEAR.get((problem.loss, problem.penalty))
    if solver is not None and not problem.free:
        answer = common.fastest(lambda: peers.liblinear(problem, solver), lambda a: a.seconds)
        results["liblinear"].append(label(problem, lam) + [f"-s {solver}", answer.seconds]
                                    + [answer.seconds / run.seconds for run in runs]
                                    + [loose["relative_gap"], distance(problem, answer, dual),
                                       "" if answer.converged else "warns"])
    peer = scikit_learn(problem)
    if peer is not None:
        answer = common.fastest(lambda: peers.fit(problem, peer[1]), lambda a: a.seconds)
        results["sklearn"].append(label(problem, lam) + [peer[0], answer.seconds]
                                  + [answer.seconds / run.json["seconds"]["solve"] for run in runs]
                                  + [loose["relative_gap"], distance(problem, answer, dual),
                                     "" if answer.converged else "warns"])


def memory_and_certify():
    rows = []
    floor = common.peak_memory(problems.CLI, "--version")
    for problem in problems.matrix_of_problems(1e-3, ("none",)):
        if (problem.loss, problem.penalty) not in (("logistic", "l2"), ("squared", "l2"), ("logistic", "l1")):
            continue
        matrix = problems.load(problem.dataset).matrix
        held = matrix.nnz * (8 + 4) + 8 * (matrix.shape[0] + 1) + 8 * matrix.shape[0]
        text = problems.data_file(problem.dataset)
        model = problems.scratch() / "memory.fenchel"
        peak = common.peak_memory(problems.CLI, "train", "--quiet", "--tol", 1e-6, "--max-passes", 1000000,
                                  *problem.flags(), text, model)
        fit, model = common.fastest(lambda: problems.train(problem, 1e-6), lambda r: r[0].seconds)
        check = common.fastest(lambda: problems.certify(problem, model), lambda r: r.seconds)
        rows.append([problem.dataset, f"{problem.loss} {problem.penalty}", text.stat().st_size / 1e6, held / 1e6,
                     peak / 1e6, (peak - floor) / held, check.seconds, check.seconds / fit.seconds])
    return floor, rows


def summary(rows, name):
    """One sentence about the ratios; they stand in the columns 6 and 7, the peer's distance in column 9."""
    loose, tight = ([row[column] for row in rows] for column in (6, 7))
    means = [common.number(common.geometric_mean(ratios)) for ratios in (loose, tight)]
    worse = sum(row[9] > row[8] for row in rows)
    return (f"Over these {len(rows)} problems {name} takes {means[0]} times (geometric mean) our time to a certified "
            f"gap of 1e-3 and {means[1]} times that to 1e-6; we are faster in {sum(r > 1 for r in loose)} and "
            f"{sum(r > 1 for r in tight)} of them. In {worse} its answer is farther from the optimum than the gap that "
            f"we certify at 1e-3.")


def main():
    start = time.perf_counter()
    results = {"ours": [], "liblinear": [], "sklearn": []}
    for name in problems.DATASETS:  # one data set after the other: it is read once
        for lam, value in LAMBDAS:
            for problem in problems.matrix_of_problems(value, datasets=(name,)):
                measure(problem, lam, results)
                print(f"{time.perf_counter() - start:6.1f} s  {problem}", flush=True)
    floor, memory = memory_and_certify()

    key = ["data", "problem", "bias", "λ"]
    peer = ["seconds", "ratio to our 1e-3", "ratio to our 1e-6", "our gap at 1e-3", "its distance", ""]
    parts = [f"{what} {tol:g}" for tol in TOLERANCES for what in ("process", "solve", "passes", "gap")]
    common.write_section("foundation", f"""## Certified fits against LIBLINEAR and scikit-learn

`{common.command()}` on: {common.machine()}.
One run of {time.perf_counter() - start:.0f} seconds; what is short was repeated up to three times and the fastest counts.
Every tool reads the same uncompressed file. *Gap* and *distance* are relative: the gap is the one that we certify; a
peer's distance is P(its weights) / D − 1, with P evaluated in Python from its weights with exactly rounded margins and
D our best dual value, so that it is too large by our tighter gap at most. Ratios above 1 mean that we are faster.

### Our fits

`fenchel train --tol T --max-passes 1000000 --time-limit {TIME_LIMIT}` with all cores, T = 1e-3 and 1e-6. *Process* is
the whole program, *load* and *solve* are the parts that it reports, in seconds; *passes* include certificates.

{common.table(key + ["solver", "load", *parts], results["ours"])}

### LIBLINEAR at its default tolerance

Whole process against whole process. No bias: LIBLINEAR penalises it. {summary(results["liblinear"], "LIBLINEAR")}

{common.table(key + ["solver", *peer], results["liblinear"])}

### scikit-learn at its default tolerance

Its `fit` on data in memory against our *solve*. Only estimators with the same objective: those with a free bias do not
penalise it. {summary(results["sklearn"], "scikit-learn")}

{common.table(key + ["estimator", *peer], results["sklearn"])}

### Peak memory of a fit, and the time of `certify`

λ = 1e-3, no bias, tolerance 1e-6. *Matrix* is 12 bytes a non-zero and 16 a row, in MB like *text*, the size of the
file, and *peak*, the largest resident size of the process. *Ratio* is what the peak has above an empty run
(`--version`, {common.number(floor / 1e6)} MB, no more than the process that starts it), over the matrix. `certify`
reads the data again, checks them against the model and recomputes the gap; its time is also given as a share of the
fit's.

{common.table(["data", "problem", "text", "matrix", "peak", "ratio", "certify seconds", "certify / fit"], memory)}
""")


if __name__ == "__main__":
    main()
