// The fingerprint depends on the numbers, on all of them, and on nothing else.
#include "fenchel/data/fingerprint.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <xxhash.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/dataset.hpp"

namespace fenchel::data {
namespace {

using Numbers = std::vector<double>;

// 2 x 3:  1.5 0 2 / 0 -4 0
const std::vector<std::uint64_t> offsets{0, 2, 3};
const std::vector<std::uint32_t> columns{0, 2, 1};
const Numbers three_values{1.5, 2, -4};
const std::vector<float> floats{1.5F, 2, -4};
const Numbers dense{1.5, 0, 2, -0.0, -4, 0};
const std::vector<float> dense_floats{1.5F, 0, 2, 0, -4, 0};
const Numbers two_targets{1, -1};

const CsrRows<double> sparse_matrix{offsets, columns, three_values, 3};

Fingerprint of_matrix(const Matrix& matrix) { return fingerprint(matrix, two_targets); }

TEST(Fingerprint, DoesNotDependOnStorage) {
  const Fingerprint expected = of_matrix(sparse_matrix);
  EXPECT_EQ(of_matrix(CsrRows<float>{offsets, columns, floats, 3}), expected);
  EXPECT_EQ(of_matrix(DenseRows<double>{dense, 2, 3}), expected);
  EXPECT_EQ(of_matrix(DenseRows<float>{dense_floats, 2, 3}), expected);
}

TEST(Fingerprint, IgnoresEmptyColumnsAtTheEndAndStoredZeros) {
  const Fingerprint expected = of_matrix(sparse_matrix);
  EXPECT_EQ(of_matrix(CsrRows<double>{offsets, columns, three_values, 77}), expected);
  const Numbers wider{1.5, 0, 2, 0, 0, 0, -4, 0, 0, 0};
  EXPECT_EQ(of_matrix(DenseRows<double>{wider, 2, 5}), expected);
  const std::vector<std::uint64_t> o{0, 3, 5};
  const std::vector<std::uint32_t> c{0, 1, 2, 1, 2};
  const Numbers v{1.5, -0.0, 2, -4, 0};
  EXPECT_EQ(of_matrix(CsrRows<double>{o, c, v, 3}), expected);
}

TEST(Fingerprint, UnitWeightsEqualNone) {
  const Fingerprint expected = of_matrix(sparse_matrix);
  EXPECT_EQ(fingerprint(sparse_matrix, two_targets, Numbers{1, 1}), expected);
  EXPECT_NE(fingerprint(sparse_matrix, two_targets, Numbers{1, 2}), expected);
  EXPECT_NE(fingerprint(sparse_matrix, two_targets, Numbers{2, 2}), expected);
}

TEST(Fingerprint, SignOfZeroDoesNotMatter) {
  EXPECT_EQ(fingerprint(sparse_matrix, Numbers{0, 1}, Numbers{0, 1}),
            fingerprint(sparse_matrix, Numbers{-0.0, 1}, Numbers{-0.0, 1}));
}

TEST(Fingerprint, EveryChangeShows) {
  std::set<std::string> seen{of_matrix(sparse_matrix).hex()};
  const auto fresh = [&](const Fingerprint& f) { return seen.insert(f.hex()).second; };
  for (std::size_t k = 0; k < three_values.size(); ++k) {
    Numbers changed = three_values;
    changed[k] = std::nextafter(changed[k], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(fresh(of_matrix(CsrRows<double>{offsets, columns, changed, 3})));
  }
  const std::vector<std::uint32_t> moved{0, 1, 1};
  EXPECT_TRUE(fresh(of_matrix(CsrRows<double>{offsets, moved, three_values, 3})));
  const std::vector<std::uint32_t> high{0, 2, 0xffffffff};
  EXPECT_TRUE(fresh(of_matrix(CsrRows<double>{offsets, high, three_values, 3})));
  const std::vector<std::uint64_t> split{0, 1, 3};
  EXPECT_TRUE(fresh(of_matrix(CsrRows<double>{split, std::vector<std::uint32_t>{0, 1, 2}, three_values, 3})));
  EXPECT_TRUE(fresh(fingerprint(sparse_matrix, Numbers{1, 1})));
  EXPECT_TRUE(fresh(fingerprint(sparse_matrix, Numbers{-1, 1})));
  EXPECT_TRUE(fresh(fingerprint(sparse_matrix, two_targets, Numbers{1, 0})));
  const std::vector<std::uint64_t> longer{0, 2, 3, 3};
  EXPECT_TRUE(fresh(fingerprint(CsrRows<double>{longer, columns, three_values, 3}, Numbers{1, -1, 0})));
}

// The canonical form is stored in models, so it is spelled out a second time here.
TEST(Fingerprint, IsTheHashOfTheCanonicalForm) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  const std::vector<std::uint64_t> block{0, bits(1.5), 2, bits(2),  2,      bits(1), bits(1),  // row 0
                                         1, bits(-4),  1, bits(-1), bits(1)};                  // row 1
  const XXH128_hash_t inner = XXH3_128bits(block.data(), 8 * block.size());
  const std::vector<std::uint64_t> top{2, inner.low64, inner.high64};
  const XXH128_hash_t outer = XXH3_128bits(top.data(), 8 * top.size());
  const Fingerprint expected{outer.high64, outer.low64};
  EXPECT_EQ(of_matrix(sparse_matrix), expected);
  EXPECT_EQ(of_matrix(sparse_matrix).hex(), "357224f4fc8d9173f7813614bd2e8419");
}

// More rows than a block and longer than the hash's buffer, at every number of threads the same.
TEST(Fingerprint, ManyBlocksAndAnyNumberOfThreads) {
  constexpr std::size_t n = 3 * 4096 + 17;
  constexpr std::size_t d = 13;
  Numbers all(n * d);
  Numbers y(n);
  std::vector<std::uint64_t> ends{0};
  std::vector<std::uint32_t> entries;
  Numbers stored;
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = static_cast<double>(i % 5);
    for (std::size_t j = 0; j < d; ++j) {
      const double value = (i * 7 + j * 3) % 4 == 0 ? 0.0 : 1.0 / static_cast<double>(1 + i * d + j);
      all[i * d + j] = value;
      if (value == 0.0) continue;
      entries.push_back(static_cast<std::uint32_t>(j));
      stored.push_back(value);
    }
    ends.push_back(stored.size());
  }
  const Matrix rows_dense = DenseRows<double>{all, n, d};
  const Matrix rows_sparse = CsrRows<double>{ends, entries, stored, d};
  const Fingerprint expected = fingerprint(rows_dense, y);
  for (const std::size_t threads : {1, 2, 4}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    EXPECT_EQ(fingerprint(rows_dense, y), expected);
    EXPECT_EQ(fingerprint(rows_sparse, y), expected);
  }
  all[n * d - 1] += 1;
  EXPECT_NE(fingerprint(rows_dense, y), expected);
}

TEST(Fingerprint, NoRows) {
  const Matrix nothing = CsrRows<double>{};
  EXPECT_EQ(fingerprint(nothing, {}), fingerprint(DenseRows<float>{}, {}));
}

TEST(Fingerprint, NeedsOneTargetAndWeightARow) {
  EXPECT_THROW(fingerprint(sparse_matrix, Numbers{1}), Error);
  EXPECT_THROW(fingerprint(sparse_matrix, two_targets, Numbers{1, 2, 3}), Error);
}

TEST(Fingerprint, HexRoundTrips) {
  const Fingerprint f{0x0123456789abcdef, 0x00000000000000ff};
  EXPECT_EQ(f.hex(), "0123456789abcdef00000000000000ff");
  EXPECT_EQ(Fingerprint::parse(f.hex()), f);
  for (const std::string bad : {"", "0123", "0123456789abcdef00000000000000f", "0123456789abcdef00000000000000ff0",
                                "0123456789abcdeg00000000000000ff", "-123456789abcdef00000000000000ff",
                                "0x23456789abcdef00000000000000ff", "0123456789abcdef 0000000000000ff"}) {
    EXPECT_FALSE(Fingerprint::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace fenchel::data
