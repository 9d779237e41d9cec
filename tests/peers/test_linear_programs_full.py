"""The linear programs for which scipy's HiGHS takes too long for every day."""

import unittest

from test_linear_programs import Programs, add_tests


class LinearProgramsFull(Programs, unittest.TestCase):
    pass


add_tests(LinearProgramsFull, {"a9a": (0, 1e-3)})

if __name__ == "__main__":
    unittest.main()
