"""The hinge with a free bias on real data: accelerated gradients, excessive gap, bundle methods and dual ascent agree within the
sum of their gaps, and with an optimum of high accuracy."""

import itertools
import unittest

import problems

problems.require_environment()
SETS = ("a9a", "w8a", "rcv1-binary", "mushrooms")
LAMBDA = 1e-3
GAP = 1e-4
# The line search stands in for a bundle at a rate of 1/t: it is held to what it reaches in the time.
METHODS = {"sdca": GAP, "agm-inf": GAP, "agm-1": GAP, "pragam": GAP, "bmrm": GAP, "bmrm-ls": 1e-2}


class Methods(unittest.TestCase):
    def check(self, name):
        if problems.data_file(name) is None:
            self.skipTest(f"FENCHEL_DATA holds no {name}.svm or {name}.svm.zst")
        problems.DATASETS.setdefault(name, problems.CLASSIFICATION)
        problem = problems.Problem(name, "hinge", "l2", "free", LAMBDA)
        done, _ = problems.train(problem, 1e-9)
        self.assertEqual(done.code, 0, done.stderr)
        answers = {"auto": done.json}
        for solver, gap in METHODS.items():
            done, model = problems.train(problem, gap, "--solver", solver)
            self.assertEqual(done.code, 0, f"{problem} {solver}: {done.stderr}")
            self.assertIs(problems.certify(problem, model).json["certified"], True)
            answers[solver] = done.json
            print(f"  {problem} {solver}: {done.json['passes']:.0f} passes, {done.json['seconds']['solve']:.2f} s, "
                  f"relative gap {done.json['relative_gap']:.1e}", flush=True)
        for one, other in itertools.combinations(answers, 2):
            self.assertLessEqual(abs(answers[one]["primal"] - answers[other]["primal"]),
                                 answers[one]["gap"] + answers[other]["gap"], f"{one} and {other}")
            self.assertLessEqual(answers[one]["dual"], answers[other]["primal"], f"{one} and {other}")


for dataset in SETS:
    setattr(Methods, f"test_{dataset}".replace("-", "_"), lambda self, dataset=dataset: self.check(dataset))


if __name__ == "__main__":
    unittest.main()
