"""Training on a .fbin file that is larger than the memory that may be used.

The file is written here by NumPy alone, after the description of the format in fenchel/data/binary.hpp: a second
opinion on what the format is."""

import ctypes
import ctypes.util
import os
import resource
import subprocess
import unittest
import uuid
from pathlib import Path

from support import CLI, CliTest

try:
    import numpy as np
except ImportError:
    raise unittest.SkipTest("NumPy is not installed")

XXHASH = ctypes.util.find_library("xxhash")
if not XXHASH:
    raise unittest.SkipTest("libxxhash is not installed")
LIBRARY = ctypes.CDLL(XXHASH)
LIBRARY.XXH3_64bits.restype = ctypes.c_uint64
LIBRARY.XXH3_64bits.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

PAGE = 4096
LABEL_BLOCK = 65536
SPARSE, SINGLE, ONE_BASED, TARGETS = 1, 2, 8, 16


def checksum(array):
    array = np.ascontiguousarray(array)
    return LIBRARY.XXH3_64bits(array.ctypes.data, array.nbytes)


def block_checksum(kind, block, *parts):
    return checksum(np.array([kind, block, *map(checksum, parts)], np.uint64))


def write_fbin(path, targets, offsets, columns, values, width, rows_in_block):
    """Sparse rows of float32 values."""
    rows = len(targets)
    labels = [block_checksum(3, first // LABEL_BLOCK, targets[first:first + LABEL_BLOCK])
              for first in range(0, rows, LABEL_BLOCK)]
    blocks = []
    for first in range(0, rows, rows_in_block):
        part = offsets[first:first + rows_in_block + 1]
        entries = slice(part[0], part[-1])
        blocks.append(block_checksum(7, first // rows_in_block, part, columns[entries], values[entries]))
    sections = [(1, targets), (3, np.array(labels, np.uint64)), (4, offsets), (5, columns), (6, values),
                (7, np.array(blocks, np.uint64))]
    end, table = PAGE, b""
    for kind, numbers in sections:
        offset = -(-end // PAGE) * PAGE
        end = offset + numbers.nbytes
        table += np.array([kind, offset, numbers.nbytes], np.uint64).tobytes()
    flags = SPARSE | SINGLE | ONE_BASED | TARGETS
    checked = np.array([end, rows, width, len(values), 0, rows_in_block, 0], np.uint64).tobytes()
    checked += np.array([flags, len(sections)], np.uint32).tobytes() + table
    checked = checked.ljust(PAGE - 24, b"\0")
    with open(path, "wb") as file:
        file.write(b"FENCHELB" + np.array([0x01020304, 1], np.uint32).tobytes())
        file.write(np.array([checksum(np.frombuffer(checked, np.uint8))], np.uint64).tobytes() + checked)
        for kind, numbers in sections:
            file.write(b"\0" * (-file.tell() % PAGE))
            numbers.tofile(file)


def sample(rows, in_row, width, seed=1):
    """Rows of norm 1 with labels that mostly follow a hidden vector."""
    random = np.random.default_rng(seed)
    step = width // in_row
    columns = (random.integers(0, step, (rows, in_row), np.uint32) + np.arange(0, in_row * step, step, dtype=np.uint32))
    values = random.standard_normal((rows, in_row), np.float32)
    values[values == 0] = 1
    values /= np.sqrt(np.float32(in_row))
    scores = np.einsum("ij,ij->i", values, random.standard_normal(width, np.float32)[columns])
    targets = np.where(scores + 0.3 * random.standard_normal(rows) > 0, 1.0, -1.0)
    offsets = np.arange(0, rows * in_row + 1, in_row, dtype=np.uint64)
    return targets, offsets, columns.ravel(), values.ravel(), width


def memory_group(limit):
    """A control group whose processes together have so much memory; None where it cannot be made."""
    for root, file in [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]:
        group = Path(root) / f"fenchel-test-{uuid.uuid4().hex}"
        try:
            if not (Path(root) / "cgroup.procs").exists():
                continue
            group.mkdir()
            (group / file).write_text(str(limit))
            return group
        except OSError:
            if group.exists():
                group.rmdir()
    return None


class SecondOpinion(CliTest):
    def test_a_file_written_by_another_hand(self):
        targets, offsets, columns, values, width = sample(5000, 6, 60)
        write_fbin(self.dir / "d.fbin", targets, offsets, columns, values, width, 256)
        self.assertTrue(self.json("info", "d.fbin", "--verify")["verified"])
        lines = [f"{int(y)} " + " ".join(f"{c + 1}:{float(v)!r}" for c, v in zip(columns[6 * i:6 * i + 6], values[6 * i:6 * i + 6]))
                 for i, y in enumerate(targets)]
        self.write("d.svm", "\n".join(lines) + "\n")
        options = ["--loss", "squared-hinge", "--seed", 3]
        mapped, parsed = self.json("train", "d.fbin", "m", *options), self.json("train", "d.svm", "s", *options)
        for key in ["primal", "dual", "gap", "passes", "nonzeros"]:
            self.assertEqual(mapped[key], parsed[key])
        self.ok("certify", "d.svm", "m")  # the same data, says the fingerprint
        self.ok("certify", "d.fbin", "s")

    def test_windows_are_a_setting(self):
        write_fbin(self.dir / "d.fbin", *sample(3000, 6, 60), 1024)
        plain = self.json("train", "d.fbin", "m", "--solver", "sdca")
        self.assertNotIn("row_order", plain)
        for _ in range(2):
            windows = self.json("train", "d.fbin", "w", "--solver", "sdca", "--row-order", "windows")
            self.assertEqual((windows["status"], windows["row_order"]), ("optimal", "windows"))
            self.ok("certify", "d.fbin", "w")
        self.refused(2, "train", "d.fbin", "--row-order", "window", says=["--row-order", "windows"])

    def test_damage_in_the_middle_of_a_fit(self):
        write_fbin(self.dir / "d.fbin", *sample(9000, 6, 60), 4096)
        content = bytearray((self.dir / "d.fbin").read_bytes())
        content[-PAGE - 2000] ^= 1  # among the last values
        self.write("d.fbin", bytes(content))
        says = ["d.fbin: rows 8193 to 9000 are damaged", "fenchel convert"]
        self.refused(3, "train", "d.fbin", "m", says=says)
        self.refused(3, "info", "d.fbin", "--verify", says=says)
        self.assertEqual(set(self.files()), {"d.fbin"})


class OutOfCore(CliTest):
    ROWS, IN_ROW, WIDTH = 320_000, 120, 6000

    def setUp(self):
        super().setUp()
        write_fbin(self.dir / "large.fbin", *sample(self.ROWS, self.IN_ROW, self.WIDTH), 4096)
        self.size = (self.dir / "large.fbin").stat().st_size
        self.assertGreater(self.size, 300_000_000)

    def train(self, prepare, expected_order):
        command = [CLI, "train", "large.fbin", "m", "--solver", "sdca", "--loss", "squared-hinge", "--lambda", "1e-4",
                   "--tol", "1e-2", "--json"]
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, timeout=300, preexec_fn=prepare)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"status":"optimal"', done.stdout)
        self.assertIn(f'"row_order":"{expected_order}"', done.stdout)
        check = subprocess.run([CLI, "certify", "large.fbin", "m"], cwd=self.dir, capture_output=True, text=True,
                               timeout=300, preexec_fn=prepare)
        self.assertEqual(check.returncode, 0, check.stderr + check.stdout)

    def test_with_a_third_of_the_memory(self):
        limit = self.size // 3
        self.train(lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)), "windows")

    def test_in_a_control_group(self):
        group = memory_group(self.size // 2)
        if group is None:
            self.skipTest("no control group for memory can be made here")
        self.addCleanup(group.rmdir)
        # Pages that lie in memory already would be counted against whoever wrote them.
        with open(self.dir / "large.fbin", "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.train(lambda: (group / "cgroup.procs").write_text(str(os.getpid())), "windows")


if __name__ == "__main__":
    unittest.main()
