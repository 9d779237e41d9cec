"""Our numbers against those of scikit-learn, NumPy and SciPy, on all real data that time allows: what `convert` writes
is, bit for bit, what their readers make of the same files."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
    from sklearn.datasets import load_svmlight_file
except ImportError as error:
    raise unittest.SkipTest(f"needs {error.name}") from error

CLI = os.environ.get("FENCHEL_CLI")
DATA = os.environ.get("FENCHEL_DATA")
if not CLI or not os.access(CLI, os.X_OK):
    raise unittest.SkipTest("FENCHEL_CLI does not name an executable")
if not DATA or not Path(DATA).is_dir():
    raise unittest.SkipTest("FENCHEL_DATA does not name a directory")

SECONDS = 60  # then the larger files are left out
MOST_CELLS = 4e6  # of dense forms
UNCOMPRESSED = 40e6  # bytes; the peers' readers take seconds for more


def convert(*args):
    subprocess.run([CLI, "convert", "--quiet", *map(str, args)], check=True, timeout=120)


def same(ours, theirs):
    """Bit for bit, zeros that a file spells out aside."""
    ours, theirs = scipy.sparse.csr_matrix(ours), scipy.sparse.csr_matrix(theirs)
    for matrix in (ours, theirs):
        matrix.sort_indices()
        matrix.eliminate_zeros()
    return (ours.shape == theirs.shape and np.array_equal(ours.indptr, theirs.indptr)
            and np.array_equal(ours.indices, theirs.indices)
            and np.array_equal(ours.data.astype("f8").view("u8"), theirs.data.astype("f8").view("u8")))


class ReadersTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="fenchel-")
        self.addCleanup(holder.cleanup)
        self.dir = Path(holder.name)

    def test_real_data(self):
        begin, compared = time.monotonic(), 0
        for path in sorted(Path(DATA).glob("*.svm.zst"), key=lambda path: path.stat().st_size):
            if time.monotonic() - begin > SECONDS:
                print(f"{compared} files compared; left out from {path.name} on", file=sys.stderr)
                break
            text = self.dir / path.stem
            subprocess.run(["zstd", "-dqf", path, "-o", text], check=True)
            if text.stat().st_size <= UNCOMPRESSED:
                with self.subTest(path.name):
                    self.compare(path, text)
                compared += 1
            text.unlink()
        self.assertGreater(compared, 0)

    def compare(self, compressed, text):
        X, y = load_svmlight_file(str(text))
        mtx, labels = self.dir / "a.mtx", self.dir / "a.labels.txt"
        convert(compressed, mtx)  # decompressed on the way
        ours = scipy.sparse.csr_matrix(scipy.io.mmread(str(mtx)))
        self.assertTrue(same(ours, X), "values")
        self.assertTrue(np.array_equal(np.loadtxt(labels, ndmin=1), y), "labels")
        rounded = self.dir / "r.mtx"
        convert(text, rounded, "--precision", "f32")
        self.assertTrue(same(scipy.io.mmread(str(rounded)), X.astype("f4")), "values in single precision")
        if X.shape[0] * X.shape[1] <= MOST_CELLS:
            convert(text, self.dir / "a.npy")
            dense = np.load(self.dir / "a.npy")
            self.assertTrue(np.array_equal(dense, X.toarray()), "dense values")
            self.assertTrue(np.array_equal(np.load(self.dir / "a.labels.npy"), y), "dense labels")

    def back(self, path, *options):
        """What we make of a file, as scikit-learn reads our svmlight."""
        out = self.dir / "back.svm"
        convert(path, out, *options)
        return load_svmlight_file(str(out))

    def test_what_numpy_writes(self):
        random = np.random.default_rng(1)
        X = random.normal(size=(200, 7))
        X[:, 3] = np.round(X[:, 3])
        y = random.integers(-3, 3, 200)
        np.save(self.dir / "y.npy", y)
        forms = {"f8": X, "big": X.astype(">f8"), "fortran": np.asfortranarray(X), "f4": X.astype("f4"),
                 "slice": X[::3, ::-1], "i8": np.round(100 * X).astype("i8"), "u1": (X > 0).astype("u1"),
                 "bool": X > 0, "i2big": np.round(9 * X).astype(">i2", order="F")}
        for name, array in forms.items():
            with self.subTest(name):
                np.save(self.dir / "x.npy", array)
                np.save(self.dir / "y.npy", y[:len(array)])
                Z, labels = self.back(self.dir / "x.npy", "--labels", self.dir / "y.npy")
                self.assertTrue(same(Z, array.astype("f8")))
                self.assertTrue(np.array_equal(labels, y[:len(array)]))

    def test_what_scipy_writes(self):
        random = np.random.default_rng(2)
        X = scipy.sparse.random(150, 150, 0.05, random_state=3, format="coo")
        X.data = random.normal(size=X.nnz)
        square = (X + X.T).tocoo()
        cases = {"general": (X, {"symmetry": "general"}), "symmetric": (square, {"symmetry": "symmetric"}),
                 "skew": ((X - X.T).tocoo(), {"symmetry": "skew-symmetric"}),
                 "integer": (scipy.sparse.coo_matrix(np.round(9 * X.toarray()).astype("i4")), {}),
                 "pattern": (X, {"field": "pattern"}), "array": (X.toarray(), {}),
                 "symmetric array": (square.toarray(), {"symmetry": "symmetric"})}
        np.savetxt(self.dir / "y.txt", np.arange(150.0))
        for name, (matrix, options) in cases.items():
            with self.subTest(name):
                path = self.dir / "x.mtx"
                scipy.io.mmwrite(str(path), matrix, precision=17, **options)
                Z, labels = self.back(path, "--labels", self.dir / "y.txt")
                self.assertTrue(same(Z, scipy.io.mmread(str(path))))
                self.assertTrue(np.array_equal(labels, np.arange(150.0)))


if __name__ == "__main__":
    unittest.main()
