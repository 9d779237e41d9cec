"""Certified fits on real data against LIBLINEAR, scikit-learn and scipy: every problem, the faster peers."""

import checks


class RealDataTest(checks.RealData):
    pass


checks.add_tests(RealDataTest, everything=False)
