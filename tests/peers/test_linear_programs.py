"""The l1-SVM and what else is a linear program, and constraints, against scipy's HiGHS and SLSQP, on real data where they are."""

import unittest

import problems

try:
    import numpy as np
    from scipy import sparse
    from scipy.optimize import linprog, minimize
except ImportError as missing:
    raise unittest.SkipTest(f"the peers are not installed: {missing}") from missing

problems.require_environment()
GAP = 1e-5
# 0: C = 1. The features of leukemia go up to 6e4. HiGHS takes long for a9a.
STRENGTHS = {"colon": (0, 1e-2, 1e-3), "leukemia": (0, 1e-2, 1e-3), "a9a": (1e-2,)}


def linear_optimum(matrix, target, lam):
    """min mean hinge + lam ||w||_1 with a free bias: w = p - q, xi >= 1 - y (x.w + b)."""
    n, d = matrix.shape
    signed = sparse.diags(target) @ matrix
    rows = sparse.hstack([-signed, signed, -target[:, None], -sparse.identity(n)]).tocsr()
    costs = np.concatenate([np.full(2 * d, lam), [0.0], np.full(n, 1 / n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    done = linprog(costs, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs-ipm" if n > 1000 else "highs")
    return done.fun


class Programs:
    def check(self, name, lam):
        if problems.data_file(name) is None:
            self.skipTest(f"FENCHEL_DATA holds no {name}.svm or {name}.svm.zst")
        problems.DATASETS.setdefault(name, problems.CLASSIFICATION)
        data = problems.load(name)
        value = lam if lam else 1 / data.rows  # C = 1
        problem = problems.Problem(name, "hinge", "l1", "free", value)
        done, model = problems.train(problem, GAP)
        self.assertEqual(done.code, 0, done.stderr)
        ours = done.json
        self.assertLessEqual(ours["relative_gap"], GAP)
        self.assertIs(problems.certify(problem, model).json["certified"], True)
        optimum = linear_optimum(data.matrix, data.target, value)
        print(f"  {problem}: {ours['solver']} {ours['primal'] / optimum - 1:+.1e} above the linear program's optimum, "
              f"{ours['passes']:.0f} passes, {ours['seconds']['solve']:.2f} s", flush=True)
        # HiGHS meets its constraints to 1e-7, which is worth about that much of the margins of small optima.
        slack = 1e-6 * max(optimum, 1e-3)
        self.assertLessEqual(ours["primal"], optimum + ours["gap"] + slack)
        self.assertGreaterEqual(optimum + slack, ours["dual"])


def add_tests(case, strengths):
    for dataset, numbers in strengths.items():
        for number in numbers:
            setattr(case, f"test_{dataset}_{number:g}".replace("-", "_").replace(".", "_"),
                    lambda self, dataset=dataset, number=number: self.check(dataset, number))


class LinearPrograms(Programs, unittest.TestCase):
    pass


add_tests(LinearPrograms, STRENGTHS)


class Constraints(unittest.TestCase):
    """Squared loss in each set, against scipy's SLSQP with smooth constraints."""

    def check(self, name, radius):
        if problems.data_file("abalone_scale") is None:
            self.skipTest("FENCHEL_DATA holds no abalone_scale")
        data = problems.load("abalone_scale")
        x, y = data.matrix.toarray(), data.target
        d = x.shape[1]
        model = problems.scratch() / "constrained.fenchel"
        done = problems.run(problems.CLI, "train", "--json", "--quiet", "--loss", "squared", "--penalty", name, "--radius",
                            radius, "--tol", "1e-7", problems.data_file("abalone_scale"), model)
        self.assertEqual(done.code, 0, done.stderr)
        ours = done.json
        # w = p - q with p, q >= 0, and q = 0 on the simplex.
        size = {"l1-ball": lambda v: v[:2 * d].sum(), "simplex": lambda v: v[:d].sum(),
                "l2-ball": lambda v: np.sqrt(1e-300 + ((v[:d] - v[d:2 * d]) ** 2).sum()),
                "elastic-net-ball": lambda v: v[:2 * d].sum() / 2 + ((v[:d] - v[d:2 * d]) ** 2).sum() / 4}[name]
        risk = lambda v: 0.5 * np.mean((x @ (v[:d] - v[d:2 * d]) + v[-1] - y) ** 2)

        def slope(v):
            r = (x @ (v[:d] - v[d:2 * d]) + v[-1] - y) / len(y)
            return np.concatenate([x.T @ r, -x.T @ r, [r.sum()]])
        kind = "eq" if name == "simplex" else "ineq"
        start = np.concatenate([np.full(d, radius / (2 * d)), np.zeros(d), [y.mean()]])
        bounds = [(0, None)] * d + [(0, 0 if name == "simplex" else None)] * d + [(None, None)]
        peer = minimize(risk, start, jac=slope, method="SLSQP", bounds=bounds, options={"maxiter": 1000, "ftol": 1e-12},
                        constraints=[{"type": kind, "fun": lambda v: radius - size(v)}])
        print(f"  {name} radius {radius}: SLSQP {peer.fun / ours['primal'] - 1:+.1e} of our primal", flush=True)
        self.assertGreaterEqual(peer.fun * (1 + 1e-7), ours["dual"])
        self.assertAlmostEqual(peer.fun / ours["primal"], 1, delta=1e-5)


for kind in ("l1-ball", "l2-ball", "elastic-net-ball", "simplex"):
    setattr(Constraints, f"test_{kind}".replace("-", "_"), lambda self, kind=kind: self.check(kind, 3.0))


if __name__ == "__main__":
    unittest.main()
