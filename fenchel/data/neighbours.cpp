#include "fenchel/data/neighbours.hpp"

#include <cmath>

#include "fenchel/base/random.hpp"

namespace fenchel::data {
namespace {

template <class Value>
double inner_product(const SparseRow<Value>& a, const SparseRow<Value>& b) {
  double sum = 0.0;
  for (std::size_t k = 0, l = 0; k < a.nonzeros() && l < b.nonzeros();) {
    if (a.columns[k] == b.columns[l]) sum += static_cast<double>(a.values[k]) * static_cast<double>(b.values[l]);
    const bool next_of_a = a.columns[k] <= b.columns[l], next_of_b = b.columns[l] <= a.columns[k];
    k += next_of_a ? 1 : 0;
    l += next_of_b ? 1 : 0;
  }
  return sum;
}
template <class Value>
double inner_product(const DenseRow<Value>& a, const DenseRow<Value>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.nonzeros(); ++j)
    sum += static_cast<double>(a.values[j]) * static_cast<double>(b.values[j]);
  return sum;
}

// The square of the cosine between two rows: how much of a step for one is undone or repeated by the other.
template <class Row>
double likeness(const Row& a, const Row& b) {
  const double product = inner_product(a, b);
  const double square = (product / inner_product(a, a)) * (product / inner_product(b, b));
  return std::isfinite(square) ? square : 0.0;  // a row of zeros, or numbers that overflow
}

}  // namespace

bool neighbours_are_alike(const Matrix& matrix) {
  constexpr std::size_t samples = 128, least_rows = 64;
  // Means of neighbours and of any two: 0.27 and 0.03 in w8a, 0.98 and 0.45 in kddcup99-10pct, which are sorted; 0.227 and 0.225 in
  // a9a, equal to three digits in texts.
  constexpr double ratio = 1.25, margin = 0.02;
  return std::visit(
      [&](const auto& m) {
        if (m.rows() < least_rows) return true;
        Random random(1);
        double near = 0.0, any = 0.0;
        for (std::size_t k = 0; k < samples; ++k) {
          const std::size_t i = random.below(m.rows() - 1);
          const std::size_t other = (i + 1 + random.below(m.rows() - 1)) % m.rows();
          near += likeness(m.row(i), m.row(i + 1)) / samples;
          any += likeness(m.row(i), m.row(other)) / samples;
        }
        // Much larger cosines, or where all are large, much smaller angles.
        return near > ratio * any + margin || 1.0 - near < (1.0 - any) / ratio;
      },
      matrix);
}

}  // namespace fenchel::data
