"""The other tools, each at the tightest tolerance that makes sense for it. Not a test itself.

Scalings: LIBLINEAR, LinearSVC, SVC and LogisticRegression minimize R(w) + C sum loss, so C = 1 / (n lambda);
Lasso minimizes sum r^2 / (2n) + alpha |w|_1, so alpha = lambda; Ridge sum r^2 + alpha |w|^2, so alpha = n lambda.
With a free bias only tools that do not penalise it stand here; where there is none, scipy's L-BFGS-B solves the smooth
problems."""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from problems import HUBER_DELTA, data_file, load, run, scratch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC


@dataclass(frozen=True)
class Answer:
    weights: np.ndarray
    bias: float
    seconds: float
    converged: bool  # by the tool's own account
    model: object = None  # the model file of LIBLINEAR


@dataclass(frozen=True)
class Peer:
    name: str
    solve: object  # Problem -> Answer
    slow: tuple = ()  # data sets that are too long for every day; "*" is all of them


# --- LIBLINEAR ---

LIBLINEAR_LOSS_FACTOR = {"squared": 2.0}  # its squared losses have no factor 1/2


def read_liblinear(path):
    """Weights that favour the larger label, which is our +1."""
    head, _, body = path.read_text().partition("\nw\n")
    fields = dict(line.split(maxsplit=1) for line in head.splitlines())
    weights = np.array(body.split(), dtype=float)
    labels = fields.get("label", "1").split()
    return -weights if len(labels) == 2 and int(labels[0]) < int(labels[1]) else weights


def liblinear(problem, solver, tolerance=None):
    """The tolerance is LIBLINEAR's own default where none is given."""
    model = scratch() / "peer.model"
    cost = 1 / (load(problem.dataset).rows * problem.lam * LIBLINEAR_LOSS_FACTOR.get(problem.loss, 1.0))
    command = ["liblinear-train", "-s", solver, "-c", repr(cost), "-p", 0]
    command += [] if tolerance is None else ["-e", tolerance]
    done = run(*command, data_file(problem.dataset), model)
    if done.code != 0:
        raise RuntimeError(f"liblinear-train: {done.stderr}")
    return Answer(read_liblinear(model), 0.0, done.seconds, "WARNING" not in done.stdout + done.stderr, model)


def liblinear_peer(solver, tolerance, slow=()):
    return Peer(f"LIBLINEAR -s {solver} -e {tolerance:g}", lambda problem: liblinear(problem, solver, tolerance), slow)


# --- scikit-learn ---

def fit(problem, estimator):
    data = load(problem.dataset)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(data.matrix, data.target)
    seconds = time.perf_counter() - start
    complaint = any(issubclass(w.category, (ConvergenceWarning, scipy.optimize.OptimizeWarning)) for w in caught)
    weights = estimator.coef_
    weights = weights.toarray() if hasattr(weights, "toarray") else weights
    return Answer(np.ravel(weights), float(np.ravel(estimator.intercept_)[0]) if problem.free else 0.0, seconds,
                  not complaint)


def cost(problem):
    return 1 / (load(problem.dataset).rows * problem.lam)


def linear_svc(dual, tolerance):
    def solve(problem):
        loss = problem.loss.replace("-", "_")
        return fit(problem, LinearSVC(loss=loss, dual=dual, C=cost(problem), tol=tolerance, fit_intercept=problem.free,
                                      max_iter=20000))
    return solve


def logistic_regression(solver, tolerance, max_iter):
    def solve(problem):
        return fit(problem, LogisticRegression(penalty=problem.penalty, solver=solver, C=cost(problem), tol=tolerance,
                                               fit_intercept=problem.free, max_iter=max_iter, random_state=0))
    return solve


def kernel_svc(problem):
    """LIBSVM, whose bias is free."""
    return fit(problem, SVC(kernel="linear", C=cost(problem), tol=1e-7, cache_size=2000))


def ridge(problem):
    return fit(problem, Ridge(alpha=load(problem.dataset).rows * problem.lam, fit_intercept=problem.free, tol=1e-12,
                              solver="sparse_cg" if problem.free else "cholesky"))


def lasso(problem):
    return fit(problem, Lasso(alpha=problem.lam, fit_intercept=problem.free, tol=1e-12, max_iter=1000000))


# --- scipy ---

def derivative_and_value(problem, scores, target):
    """Of the loss, as a function of the score x w + b."""
    if problem.loss == "logistic":
        return -target * scipy.special.expit(-target * scores), np.logaddexp(0, -target * scores)
    if problem.loss == "squared-hinge":
        slack = np.maximum(1 - target * scores, 0)
        return -2 * target * slack, slack**2
    r = scores - target
    if problem.loss == "huber":
        clipped = np.clip(r, -HUBER_DELTA, HUBER_DELTA)
        return clipped, clipped * (r - clipped / 2)
    raise ValueError(problem.loss)


def lbfgs(problem):
    """The variables are w divided by a scale, so that raw features do no harm: one for all under l2, whose curvature is
    the same in all features; one for each under l1, where w = u - v with u, v >= 0. The bias is last."""
    data = load(problem.dataset)
    matrix, columns = data.matrix, data.matrix.shape[1]
    scale = np.sqrt(np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel())
    l1 = problem.penalty == "l1"
    scale = 1 / np.where(scale > 0, scale, 1.0) if l1 else np.full(columns, 1 / scale.max())

    def weights_of(v):
        return scale * (v[:columns] - v[columns:2 * columns] if l1 else v[:columns])

    def value_and_gradient(v):
        w, b = weights_of(v), v[-1] if problem.free else 0.0
        slope, losses = derivative_and_value(problem, matrix @ w + b, data.target)
        slope /= data.rows
        gradient = scale * (matrix.T @ slope)
        if l1:
            gradient = np.concatenate([gradient + problem.lam * scale, -gradient + problem.lam * scale])
            penalty = problem.lam * (scale @ (v[:columns] + v[columns:2 * columns]))
        else:
            gradient += problem.lam * scale * w
            penalty = problem.lam * (w @ w) / 2
        return losses.mean() + penalty, np.append(gradient, slope.sum() if problem.free else 0.0)

    size = (2 if l1 else 1) * columns
    bounds = [(0, None)] * size + [(None, None)] if l1 else None
    options = {"maxiter": 20000, "maxfun": 30000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-12}
    start = time.perf_counter()
    found = scipy.optimize.minimize(value_and_gradient, np.zeros(size + 1), jac=True, method="L-BFGS-B", bounds=bounds,
                                    options=options)
    return Answer(weights_of(found.x), float(found.x[-1]) if problem.free else 0.0, time.perf_counter() - start,
                  bool(found.success))


# --- who answers what ---

LBFGS = Peer("scipy L-BFGS-B", lbfgs)
PEERS = {
    ("hinge", "l2", "none"): [liblinear_peer(3, 1e-8), Peer("LinearSVC hinge", linear_svc(True, 1e-9), ("*",))],
    ("squared-hinge", "l2", "none"): [liblinear_peer(2, 1e-8), liblinear_peer(1, 1e-8),
                                      Peer("LinearSVC primal", linear_svc(False, 1e-9))],
    ("logistic", "l2", "none"): [liblinear_peer(0, 1e-8), liblinear_peer(7, 1e-8),
                                 Peer("LogisticRegression lbfgs", logistic_regression("lbfgs", 1e-9, 20000))],
    ("logistic", "l1", "none"): [liblinear_peer(6, 1e-7),
                                 Peer("LogisticRegression saga", logistic_regression("saga", 1e-7, 1000), ("*",))],
    ("hinge", "l2", "free"): [Peer("SVC linear", kernel_svc, ("a9a", "rcv1-binary"))],
    ("squared-hinge", "l2", "free"): [LBFGS],
    ("logistic", "l2", "free"): [
        Peer("LogisticRegression lbfgs", logistic_regression("lbfgs", 1e-9, 20000)),
        Peer("LogisticRegression newton-cg", logistic_regression("newton-cg", 1e-9, 1000), ("leukemia",))],
    ("logistic", "l1", "free"): [Peer("scipy L-BFGS-B", lbfgs, ("leukemia",)),
                                 Peer("LogisticRegression saga", logistic_regression("saga", 1e-7, 1000), ("*",))],
    ("squared", "l2", "none"): [Peer("Ridge", ridge), liblinear_peer(11, 1e-10)],
    ("squared", "l2", "free"): [Peer("Ridge", ridge)],
    ("squared", "l1", "none"): [Peer("Lasso", lasso)],
    ("squared", "l1", "free"): [Peer("Lasso", lasso)],
    ("absolute", "l2", "none"): [liblinear_peer(13, 1e-8)],
    ("huber", "l2", "none"): [LBFGS],
    ("huber", "l2", "free"): [LBFGS],
    # ("absolute", "l2", "free") has no peer with the same objective among these tools.
}


def peers_of(problem, everything):
    for peer in PEERS.get((problem.loss, problem.penalty, problem.bias), []):
        if everything or not ({"*", problem.dataset} & set(peer.slow)):
            yield peer
