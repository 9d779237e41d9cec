"""What every real problem must show, as one test a problem. Not a test itself."""

import re
import unittest

import peers
import problems

GAP = 1e-6
AGREEMENT = 1e-5  # of a converged peer with our primal
SLACK = 1e-12  # for the rounding of the comparison, not of anybody's answer

# Raw features up to 6e4 put the optimum of leukemia near 1e-12, where tools that stop on a gradient or on the violation
# of a margin stop up to 10^4 times above it, without a warning. Their values are printed; only the bound is required.
HARD = {"leukemia"}


class RealData(unittest.TestCase):
    def reach(self, problem):
        """Our answer, after everything about it that needs no peer has been checked."""
        done, model = problems.train(problem, GAP)
        self.assertEqual(done.code, 0, done.stderr)
        ours = done.json
        self.assertEqual(ours["status"], "optimal")
        self.assertLessEqual(ours["relative_gap"], GAP)
        self.assertLessEqual(ours["dual"], ours["primal"])

        again = problems.certify(problem, model)
        self.assertEqual(again.code, 0, again.stderr)
        self.assertIs(again.json["certified"], True)

        exact = problems.objective(problem, *problems.exported_weights(model))
        self.assertLessEqual(abs(exact - ours["primal"]), max(1e-9 * exact, ours["gap"]), "reported primal")
        self.assertGreaterEqual(exact * (1 + SLACK), ours["dual"], "our own weights beat our dual value")
        return ours

    def compare(self, problem, ours, peer):
        """True if the peer came as close as a peer can be asked to."""
        answer = peer.solve(problem)
        value = problems.objective(problem, answer.weights, answer.bias)
        distance = value / ours["primal"] - 1
        note = "" if answer.converged else "  (says that it did not converge)"
        print(f"  {problem}: {peer.name}: {distance:+.1e} of our primal in {answer.seconds:.2f} s{note}", flush=True)

        self.assertGreaterEqual(value * (1 + SLACK), ours["dual"], f"{peer.name} beats our dual value")
        self.assertGreaterEqual(value * (1 + SLACK), ours["primal"] - ours["gap"], f"{peer.name} refutes our gap")
        if answer.converged and problem.dataset not in HARD:
            self.assertLessEqual(abs(distance), AGREEMENT, peer.name)
        if answer.model is not None:
            self.audit(problem, answer.model, value, ours)
        return abs(distance) <= AGREEMENT

    def audit(self, problem, model, value, ours):
        """What `certify` says of LIBLINEAR's own model file: its objective, and a gap that is never too small."""
        done = problems.certify(problem, model, "--model-format", "liblinear", *problem.flags())
        self.assertEqual(done.code, 0, done.stderr)
        found = done.json
        self.assertLessEqual(abs(found["primal"] - value), max(1e-9 * value, found["rounding"]), "primal of the audit")
        self.assertLessEqual(found["dual"], ours["primal"] * (1 + SLACK), "dual value of the audit")
        self.assertGreaterEqual(found["gap"], value - ours["primal"] - SLACK * value, "gap of the audit")

    def show(self, problem, everything):
        ours = self.reach(problem)
        close = [self.compare(problem, ours, peer) for peer in peers.peers_of(problem, everything)]
        if not close:
            known = any(peers.peers_of(problem, everything=True))
            print(f"  {problem}: {'its peers wait for a full run' if known else 'no peer has this objective'}", flush=True)
        elif problem.dataset not in HARD:
            self.assertTrue(any(close), "no peer came within 1e-5 of our primal")


def add_tests(case, everything):
    """One method a problem; data that are absent give one that skips."""
    problems.require_environment()
    for name in problems.DATASETS:
        if problems.data_file(name) is None:
            def absent(self, name=name):
                self.skipTest(f"FENCHEL_DATA holds no {name}.svm or {name}.svm.zst")
            setattr(case, f"test_{re.sub('[^a-z0-9]', '_', name)}", absent)
    for problem in problems.matrix_of_problems():
        name = "_".join((problem.dataset, problem.loss, problem.penalty, problem.bias))
        setattr(case, f"test_{re.sub('[^a-z0-9]', '_', name)}",
                lambda self, problem=problem: self.show(problem, everything))
