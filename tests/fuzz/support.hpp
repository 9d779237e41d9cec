// What fuzzers share: a requirement, a refusal that is allowed, and what well-formed data look like.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/fingerprint.hpp"

namespace fenchel::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

// Whether the act ends with a refusal, which is fine, but only of the input, and it must name the file.
template <class Act>
bool refused(Act&& act) {
  try {
    act();
    return false;
  } catch (const Error& error) {
    require(error.fault() == Fault::input && std::string_view(error.what()).starts_with("fuzz:"));
    return true;
  }
}

inline void check_storage(const data::CsrStorage& csr) {
  require(!csr.offsets.empty() && csr.offsets.front() == 0 && csr.offsets.back() == csr.columns.size());
  for (std::size_t i = 0; i + 1 < csr.offsets.size(); ++i) {
    require(csr.offsets[i] <= csr.offsets[i + 1]);
    for (std::uint64_t k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k) {
      require(csr.columns[k] < csr.column_count);
      require(k == csr.offsets[i] || csr.columns[k - 1] < csr.columns[k]);
    }
  }
  std::visit(
      [&](const auto& values) {
        require(values.size() == csr.columns.size());
        for (const auto value : values) require(std::isfinite(value) && value != 0);
      },
      csr.values);
}

inline void check_storage(const data::DenseStorage& dense) {
  std::visit(
      [&](const auto& values) {
        require(values.size() == dense.row_count * dense.column_count);
        for (const auto value : values) require(std::isfinite(value));
      },
      dense.values);
}

// There are rows, the arrays fit together, and every number is one.
inline void check_shape(const data::Dataset& data) {
  require(data.rows() > 0);
  for (const double y : data.targets) require(std::isfinite(y));
  std::visit([](const auto& storage) { check_storage(storage); }, data.storage);
}

// Of the matrix alone.
inline data::Fingerprint print_of(const data::Dataset& data) {
  return data::fingerprint(data.matrix(), std::vector<double>(data.rows(), 0.0));
}

}  // namespace fenchel::fuzz
