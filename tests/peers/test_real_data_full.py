"""Certified fits on real data against LIBLINEAR, scikit-learn and scipy: every problem, every peer."""

import checks


class RealDataFullTest(checks.RealData):
    pass


checks.add_tests(RealDataFullTest, everything=True)
