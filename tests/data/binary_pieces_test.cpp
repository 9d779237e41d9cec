// Blocks of .fbin files longer than the pieces in which they are summed up and checked.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/data/binary_blocks.hpp"

namespace fenchel::test {
namespace {

using data::SectionKind;

// What is known about XXH3 from elsewhere, and that pieces change nothing.
TEST(BinaryPieces, ChecksumIsThatOfTheWhole) {
  EXPECT_EQ(data::checksum({}), 0x2d06800538d394c2U);  // of nothing, in the specification of XXH3
  std::vector<std::uint8_t> bytes(20000);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::uint8_t>(k * 131 + k / 251);
  for (const std::size_t size : {0, 1, 16, 17, 128, 129, 240, 241, 4095, 4096, 4097, 8192, 8193, 20000}) {
    const auto part = std::as_bytes(std::span(bytes).first(size));
    std::size_t seen = 0;
    const std::uint64_t found = data::checksum(part, [&](std::size_t begin, std::size_t end) {
      EXPECT_EQ(begin, seen);
      seen = end;
    });
    EXPECT_EQ(found, data::checksum(part)) << size;
    EXPECT_EQ(seen, size);
  }
}

// Two rows of 3000 entries.
struct LongRows {
  std::vector<std::uint64_t> offsets{0, 3000, 6000};
  std::vector<std::uint32_t> indices;
  std::vector<double> values;

  LongRows() {
    for (std::uint32_t k = 0; k < 6000; ++k) {
      indices.push_back(k % 3000 * 2);
      values.push_back(1.0 + k);
    }
  }
  [[nodiscard]] std::string flaw() const {
    const data::BinaryLines<double> lines{.checksums = SectionKind::row_checksums,
                                          .count = 2,
                                          .in_block = 2,
                                          .width = 6000,
                                          .offsets = offsets,
                                          .indices = indices,
                                          .values = values};
    return std::string(data::examine(lines, 0).flaw);
  }
};

TEST(BinaryPieces, FlawsAreSeenInEveryPiece) {
  EXPECT_EQ(LongRows().flaw(), "");
  for (const std::size_t k : {0, 1, 511, 512, 1023, 1024, 1025, 2048, 2999, 3000, 4095, 4096, 5998, 5999}) {
    for (const double wrong : {0.0, std::numeric_limits<double>::infinity()}) {
      LongRows rows;
      rows.values[k] = wrong;
      EXPECT_NE(rows.flaw().find("a value is not finite"), std::string::npos) << k;
    }
    if (k % 3000 == 0) continue;
    LongRows rows;
    rows.indices[k] = rows.indices[k - 1];
    EXPECT_NE(rows.flaw().find("not strictly ascending"), std::string::npos) << k;
  }
  LongRows rows;
  rows.indices[2999] = 6000;
  EXPECT_NE(rows.flaw().find("too large"), std::string::npos);
}

}  // namespace
}  // namespace fenchel::test
