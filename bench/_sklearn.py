"""scikit-learn on the same problems: every estimator over a grid of its tolerances, in a child process that the system
ends where a single fit takes too long."""

import json
import os
import signal
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

EPOCHS = (1, 3, 10, 30, 100)
DUAL = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
GRADIENT = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # a row: these estimators look at the gradient of the sum


def linear_svc(loss, cost, dual):
    return lambda tol: LinearSVC(loss=loss, C=cost, fit_intercept=False, dual=dual, tol=tol, max_iter=100000, random_state=0)


def logistic(solver, cost, scale=1.0, **more):
    return lambda tol: LogisticRegression(solver=solver, C=cost, fit_intercept=False, tol=tol * scale, max_iter=10000,
                                          random_state=0, **more)


def sgd(loss, cost, rows):
    return lambda epochs: SGDClassifier(loss=loss, alpha=1 / (cost * rows), fit_intercept=False, max_iter=epochs, tol=None,
                                        average=True, random_state=0)


def estimators(loss, cost, rows):
    """Name: (grid, estimator of a value in it). The objective is ours times C n."""
    if loss == "hinge":
        return {"LinearSVC": (DUAL, linear_svc("hinge", cost, True)), "SGD": (EPOCHS, sgd("hinge", cost, rows))}
    if loss == "squared-hinge":
        return {"LinearSVC dual": (DUAL, linear_svc("squared_hinge", cost, True)),
                "LinearSVC primal": ((1e-2, 1e-3, 1e-4, 1e-5, 1e-6), linear_svc("squared_hinge", cost, False)),
                "SGD": (EPOCHS, sgd("squared_hinge", cost, rows))}
    if loss == "logistic":
        return {"lbfgs": (GRADIENT, logistic("lbfgs", cost, rows)),
                "newton-cg": (GRADIENT, logistic("newton-cg", cost, rows)),
                "saga": ((0.1, 1e-2, 1e-3, 1e-4, 1e-5), logistic("saga", cost)),
                "SGD": (EPOCHS, sgd("log_loss", cost, rows))}
    if loss == "softmax":
        return {"lbfgs": (GRADIENT, logistic("lbfgs", cost, rows, multi_class="multinomial")),
                "saga": ((0.1, 1e-2, 1e-3, 1e-4, 1e-5), logistic("saga", cost, multi_class="multinomial"))}
    return {}


def child(matrix, target, grid, make, cap, prefix, out):
    """Fits one after the other and writes a line a fit; the alarm's default is the end of the process."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    for k, value in enumerate(grid):
        estimator = make(value)
        signal.setitimer(signal.ITIMER_REAL, cap)
        begin = time.perf_counter()
        estimator.fit(matrix, target)
        seconds = time.perf_counter() - begin
        signal.setitimer(signal.ITIMER_REAL, 0)
        np.asarray(estimator.coef_, dtype=float).tofile(f"{prefix}.{k}")
        os.write(out, (json.dumps({"setting": value, "seconds": seconds, "weights": f"{prefix}.{k}"}) + "\n").encode())


def measure(matrix, target, name, loss, cost, cap, prefix):
    """The fits of one estimator that ended in time: dictionaries with setting, seconds and the file of its weights."""
    grid, make = estimators(loss, cost, matrix.shape[0])[name]
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.close(reading)
            child(matrix, target, grid, make, cap, prefix, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as lines:
        fits = [json.loads(line) for line in lines]
    _, status = os.waitpid(process, 0)
    ended = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    if not ended and status != 0:
        raise RuntimeError(f"scikit-learn {name}: wait status {status}")
    return fits
