"""Objectives of linear models, from weights, in float64: no tool's own word counts."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Data:
    matrix: object  # scipy CSR
    labels: np.ndarray  # -1 and 1, or the positions of the classes in ascending order
    classes: int


BINARY = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
}


def multiclass_losses(loss, scores, labels):
    rows = np.arange(len(labels))
    own = scores[rows, labels]
    if loss == "softmax":
        top = scores.max(axis=1)
        return np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - own
    others = 1.0 + scores - own[:, None]
    others[rows, labels] = 0.0
    return others.max(axis=1)  # Crammer and Singer


def objective(data, loss, lam, weights):
    """(1/n) sum loss + lambda/2 |w|^2; `weights` are one vector, or one a class, one after the other."""
    columns = data.matrix.shape[1]
    weights = np.asarray(weights, dtype=float)
    if loss in BINARY:
        losses = BINARY[loss](data.labels * (data.matrix @ padded(weights.reshape(1, -1), columns)[0]))
    else:
        scores = data.matrix @ padded(weights.reshape(data.classes, -1), columns).T
        losses = multiclass_losses(loss, np.asarray(scores), data.labels)
    return float(losses.mean() + lam / 2 * (weights @ weights))


def padded(weights, columns):
    """Tools may leave out last columns that are all zero."""
    return np.pad(weights, ((0, 0), (0, columns - weights.shape[1])))
