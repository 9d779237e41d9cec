"""The real problems, our answers to them, and the exact value of the objective. Not a test itself.

Nothing here uses our own arithmetic: the data are read by scikit-learn and the objective is evaluated from weights
with margins that are rounded once, so that a disagreement of 1e-12 is somebody's mistake and not this file's."""

import atexit
import json
import math
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

try:
    import numpy as np
    from sklearn.datasets import load_svmlight_file
except ImportError as missing:
    raise unittest.SkipTest(f"the peers are not installed: {missing}") from missing

CLI = os.environ.get("FENCHEL_CLI")
DATA = os.environ.get("FENCHEL_DATA")

CLASSIFICATION = (("hinge", "l2"), ("squared-hinge", "l2"), ("logistic", "l2"), ("logistic", "l1"))
REGRESSION = (("squared", "l2"), ("huber", "l2"), ("absolute", "l2"), ("squared", "l1"))
DATASETS = {"a9a": CLASSIFICATION, "mushrooms": CLASSIFICATION, "rcv1-binary": CLASSIFICATION,
            "leukemia": CLASSIFICATION, "abalone_scale": REGRESSION}
HUBER_DELTA = 1.0  # the default of --delta


def require_environment():
    """Skips with a message where there is nothing to run or nothing to run it on."""
    if not CLI or not os.access(CLI, os.X_OK):
        raise unittest.SkipTest("FENCHEL_CLI does not name an executable")
    if not DATA or not Path(DATA).is_dir():
        raise unittest.SkipTest("FENCHEL_DATA does not name a directory with the real data")


@lru_cache(maxsize=None)
def scratch():
    directory = tempfile.mkdtemp(prefix="fenchel-peers-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)


@lru_cache(maxsize=None)
def data_file(name):
    """The uncompressed file in svmlight format, or None where it is absent."""
    plain, packed = Path(DATA) / f"{name}.svm", Path(DATA) / f"{name}.svm.zst"
    if plain.exists():
        return plain
    if not packed.exists():
        return None
    out = scratch() / f"{name}.svm"
    subprocess.run(["zstd", "-dqf", packed, "-o", out], check=True)
    return out


@dataclass(frozen=True)
class Dataset:
    matrix: object  # scipy CSR
    target: np.ndarray  # numbers, or -1 and +1 with the larger label as +1

    @property
    def rows(self):
        return self.matrix.shape[0]


@lru_cache(maxsize=2)
def load(name):
    matrix, target = load_svmlight_file(str(data_file(name)))
    if DATASETS[name] is CLASSIFICATION:
        target = np.where(target == target.max(), 1.0, -1.0)
    return Dataset(matrix, target)


@dataclass(frozen=True)
class Problem:
    dataset: str
    loss: str
    penalty: str
    bias: str
    lam: float

    def __str__(self):
        return f"{self.dataset} {self.loss} {self.penalty} bias={self.bias} lambda={self.lam:.3g}"

    @property
    def free(self):
        return self.bias == "free"

    def flags(self):
        return ["--loss", self.loss, "--penalty", self.penalty, "--bias", self.bias, "--lambda", repr(self.lam)]


def matrix_of_problems(lam=1e-3, biases=("none", "free"), datasets=tuple(DATASETS)):
    """Every problem on data that are there; `lam` is a number or a function of the number of rows."""
    for name in datasets:
        if data_file(name) is None:
            continue
        value = lam(load(name).rows) if callable(lam) else lam
        for loss, penalty in DATASETS[name]:
            for bias in biases:
                yield Problem(name, loss, penalty, bias, value)


# --- the exact objective ---

def exact_products(a, b):
    """Pairs (high, low) with high + low = a b exactly (Dekker), no overflow or underflow provided."""
    def split(x):
        c = 134217729.0 * x  # 2^27 + 1
        high = c - (c - x)
        return high, x - high
    (ah, al), (bh, bl) = split(a), split(b)
    high = a * b
    return high, al * bl - (((high - ah * bh) - al * bh) - ah * bl)


def residuals(data, weights, bias, classes):
    """1 - y(xw + b) for classes, xw + b - y for numbers, each the double nearest to the true value."""
    matrix, target = data.matrix, data.target
    high, low = exact_products(matrix.data, weights[matrix.indices])
    high, low, ends = high.tolist(), low.tolist(), matrix.indptr.tolist()
    out = np.empty(data.rows)
    for row, y in enumerate(target.tolist()):
        terms = high[ends[row]:ends[row + 1]] + low[ends[row]:ends[row + 1]]
        terms.append(bias)
        terms.append(-y)  # y is -1 or 1 for classes: 1 - y s = -y (s - y)
        out[row] = math.fsum(terms) * (-y if classes else 1.0)
    return out


LOSSES = {
    "hinge": lambda r: np.maximum(r, 0),
    "squared-hinge": lambda r: np.maximum(r, 0) ** 2,
    "logistic": lambda r: np.logaddexp(0, r - 1),  # r - 1 = -m
    "squared": lambda r: r * r / 2,
    "absolute": np.abs,
    "huber": lambda r: np.where(np.abs(r) <= HUBER_DELTA, r * r / 2, HUBER_DELTA * np.abs(r) - HUBER_DELTA**2 / 2),
}


def objective(problem, weights, bias=0.0):
    """P(w, b) of the contract, to about 1e-15 relative."""
    data = load(problem.dataset)
    full = np.zeros(data.matrix.shape[1])
    full[:len(weights)] = weights
    classes = DATASETS[problem.dataset] is CLASSIFICATION
    if problem.loss == "logistic":  # through m itself: 1 - m would cancel where m is large
        full_margin = residuals(Dataset(data.matrix, np.zeros(data.rows)), full, float(bias), classes=False)
        losses = np.logaddexp(0, -data.target * full_margin)
    else:
        losses = LOSSES[problem.loss](residuals(data, full, float(bias), classes))
    size = math.fsum(np.abs(full)) if problem.penalty == "l1" else math.fsum(full * full) / 2
    return math.fsum(losses) / data.rows + problem.lam * size


# --- our tool ---

@dataclass
class Run:
    """One finished child process."""
    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def json(self):
        return json.loads(self.stdout)


def run(*command):
    start = time.perf_counter()
    done = subprocess.run(list(map(str, command)), cwd=scratch(), capture_output=True, text=True)
    return Run(done.returncode, done.stdout, done.stderr, time.perf_counter() - start)


def train(problem, tol, *more):
    """Our fit: the finished process and the model file."""
    model = scratch() / "model.fenchel"
    done = run(CLI, "train", "--json", "--quiet", "--tol", tol, "--max-passes", 1000000, *problem.flags(), *more,
               data_file(problem.dataset), model)
    return done, model


def certify(problem, model, *more):
    return run(CLI, "certify", "--json", *more, data_file(problem.dataset), model)


def exported_weights(model):
    """Weights and bias of a model of ours."""
    out = scratch() / "model.json"
    done = run(CLI, "export", "--format", "json", model, out)
    if done.code != 0:
        raise RuntimeError(done.stderr)
    content = json.loads(out.read_text())
    weights = content["weights"]
    if isinstance(weights, dict):
        dense = np.zeros(1 + max(weights["indices"], default=-1))
        dense[weights["indices"]] = weights["values"]
        weights = dense
    return np.asarray(weights, dtype=float), float(content["bias"])
