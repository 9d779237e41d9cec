#include "fenchel/data/neighbours.hpp"

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
  const double norms = inner_product(a, a) * inner_product(b, b), product = inner_product(a, b);
  return norms > 0.0 ? product * product / norms : 0.0;
}

}  // namespace

bool neighbours_are_alike(const Matrix& matrix) {
  constexpr std::size_t samples = 128, least_rows = 64;
  constexpr double ratio = 1.25, margin = 0.02;
  return std::visit(
      [&](const auto& m) {
        if (m.rows() < least_rows) return true;
        Random random(1);
        double near = 0.0, any = 0.0;
        for (std::size_t k = 0; k < samples; ++k) {
          const std::size_t i = random.below(m.rows() - 1), other = random.below(m.rows());
          near += likeness(m.row(i), m.row(i + 1));
          any += likeness(m.row(i), m.row(other));
        }
        return near > ratio * any + margin * static_cast<double>(samples);
      },
      matrix);
}

}  // namespace fenchel::data
