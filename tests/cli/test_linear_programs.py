"""Small linear programs with badly scaled columns, on which the interior point method once stalled."""

import random
import unittest

from support import CliTest

LOSSES = ["hinge", "absolute", "quantile", "epsilon-insensitive"]
# Each left a relative gap of 4e-5 to 0.9.
SEEDS = [5, 21, 25, 33, 58, 63, 89, 93, 95, 98, 107, 134]


def linear_program(seed):
    """The text of the data, the loss, the bias and lambda."""
    draw = random.Random(seed).random  # the only one that is the same in every version
    normal = lambda: sum(draw() for _ in range(12)) - 6
    rows, columns = 6 + int(74 * draw()), 2 + int(98 * draw())
    loss = LOSSES[seed % 4]
    scales = [10 ** (6 * draw() - 3) for _ in range(columns)]
    centres = [10 ** (3 * draw()) if draw() < 0.25 else 0.0 for _ in range(columns)]
    weights = [normal() for _ in range(columns)]
    lines, sums = [], [0.0] * columns
    for i in range(rows):
        x = [normal() for _ in range(columns)]
        y = sum(a * b for a, b in zip(weights, x)) + 0.5 * normal()
        sign = 1 if i == 0 or (i > 1 and y > 0) else -1
        entries = [(a + c) * s for a, c, s in zip(x, centres, scales)]
        sums = [t + sign * e / rows for t, e in zip(sums, entries)]
        label = str(sign) if loss == "hinge" else repr(y)
        lines.append(label + "".join(f" {j + 1}:{e!r}" for j, e in enumerate(entries)) + "\n")
    strength = max(map(abs, sums)) * 10 ** (-8 * draw())
    return "".join(lines), loss, "free" if draw() < 0.6 else "none", strength


class LinearPrograms(CliTest):
    def test_none_stalls(self):
        for seed in SEEDS:
            text, loss, bias, strength = linear_program(seed)
            data = self.write("lp.svm", text)
            problem = ["--loss", loss, "--penalty", "l1", "--lambda", repr(strength), "--bias", bias, "--tol", "1e-6"]
            report = self.json("train", data, "m", *problem)
            self.assertEqual((report["solver"], report["status"]), ("interior-point", "optimal"), seed)
            self.assertIs(self.json("certify", data, "m")["certified"], True)


if __name__ == "__main__":
    unittest.main()
