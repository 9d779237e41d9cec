// A fingerprint of data: 128 bits that tell whether a model's certificate speaks of these numbers. It depends on
// the numbers alone, not on how they are stored: dense or sparse, float or double, with or without empty columns at
// the end, weights of 1 given or not.
//
// Canonical form, in 64-bit little-endian words: a row is its nonzero entries (column, bits of the double)
// ascending, their count, target and weight (-0 counts as 0). Blocks of 4096 rows are hashed with XXH3-128, and the
// fingerprint is the XXH3-128 of the number of rows and the block hashes, low word first. So blocks may be computed
// by anyone in any order. This form is part of the model file's format: a change to it needs a new version there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

struct Fingerprint {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] std::string hex() const;  // 32 digits, high word first
  [[nodiscard]] static std::optional<Fingerprint> parse(std::string_view hex);
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// One target a row; weights may be empty, which means 1 for every row.
Fingerprint fingerprint(const Matrix& matrix, std::span<const double> targets,
                        std::span<const double> weights = {});

}  // namespace fenchel::data
