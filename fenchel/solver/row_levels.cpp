#include "fenchel/solver/row_levels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/random.hpp"

namespace fenchel::solver {
namespace {

constexpr double least_factor = 0.01;         // of the mean
constexpr std::size_t lanczos_products = 12;  // for either of the two matrices
constexpr double most_setting_up = 0.1;       // of the passes of a fit
constexpr double worth_of_bound = 0.9;        // of the trace: it costs no more than the norms
constexpr double trace_rounding = 1e-12;      // of the terms whose difference it is

double product_of(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// A symmetric tridiagonal matrix.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;

  // Whether all eigenvalues lie below x: whether x - T has positive pivots.
  [[nodiscard]] bool all_below(double x) const {
    double pivot = x - diagonal.front();
    for (std::size_t k = 1; k < diagonal.size() && pivot > 0.0; ++k) {
      pivot = x - diagonal[k] - beside[k - 1] * beside[k - 1] / pivot;
    }
    return pivot > 0.0;
  }
  // From below, by bisection.
  [[nodiscard]] double largest_eigenvalue() const {
    double low = *std::max_element(diagonal.begin(), diagonal.end());
    double high = low;
    for (const double b : beside) high += 2.0 * b;
    for (double middle = 0.5 * (low + high); middle > low && middle < high; middle = 0.5 * (low + high)) {
      (all_below(middle) ? high : low) = middle;
    }
    return low;
  }
};

}  // namespace

RowScatter::RowScatter(const problem::Problem& problem, std::span<const double> scale,
                       std::span<const double> factors)
    : map_(problem.design),
      root_scale_(scale.begin(), scale.end()),
      weights_(problem.rows()),
      squares_(map_.row_square_norms(scale)),
      z_(problem.rows()),
      beta_(problem.rows()),
      scaled_(problem.dimension()) {
  root_scale_.resize(problem.dimension(), 1.0);
  for (double& s : root_scale_) s = std::sqrt(s);
  const risk::Levels levels{.mu = 1.0, .factors = factors};
  double total = 0.0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    weights_[i] = problem.sample.weight(i) / problem.sample.weight_sum / levels[i];
    total += weights_[i];
  }
  trace_ = product_of(weights_, squares_);
  if (!problem.free_bias) return;
  mean_.resize(problem.dimension());
  map_.adjoint(weights_, mean_);
  passes_ += 1.0;
  for (std::size_t j = 0; j < mean_.size(); ++j) mean_[j] *= root_scale_[j] / total;
  trace_ = std::max(0.0, trace_ - total * product_of(mean_, mean_)) + trace_rounding * trace_;
}

std::vector<double> RowScatter::row_norms() {
  double square_of_mean = 0.0;
  std::fill(z_.begin(), z_.end(), 0.0);
  if (!mean_.empty()) {
    for (std::size_t j = 0; j < mean_.size(); ++j) scaled_[j] = root_scale_[j] * mean_[j];
    map_.margins(scaled_, z_);
    passes_ += 1.0;
    square_of_mean = product_of(mean_, mean_);
  }
  std::vector<double> norms(squares_.size());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    norms[i] = std::sqrt(std::max(0.0, squares_[i] - 2.0 * z_[i] + square_of_mean));
  }
  return norms;
}

// The mean being that under the weights, sum beta = 0, and there is nothing to be subtracted after X' beta.
void RowScatter::apply(std::span<const double> v, std::span<double> result) {
  for (std::size_t j = 0; j < v.size(); ++j) scaled_[j] = root_scale_[j] * v[j];
  const double shift = mean_.empty() ? 0.0 : product_of(mean_, v);
  const auto fill = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) beta_[i] = weights_[i] * (z_[i] - shift);
  };
  passes_ += map_.margins_and_adjoint(scaled_, z_, fill, beta_, result);
  for (std::size_t j = 0; j < result.size(); ++j) result[j] *= root_scale_[j];
}

Interval RowScatter::largest_eigenvalue(std::size_t products) {
  constexpr std::uint64_t any_seed = 1;
  constexpr double doubt = 0.01;
  Random random(any_seed);
  const std::size_t n = map_.cols();
  std::vector<double> v(n), last(n), image(n);
  for (double& x : v) x = random.normal();
  double length = std::sqrt(product_of(v, v));
  Tridiagonal ritz;
  while (ritz.diagonal.size() < products) {
    for (double& x : v) x /= length;
    apply(v, image);
    const double quotient = product_of(v, image);
    const double back = ritz.diagonal.empty() ? 0.0 : length;
    for (std::size_t j = 0; j < n; ++j) image[j] -= quotient * v[j] + back * last[j];
    if (!ritz.diagonal.empty()) ritz.beside.push_back(length);
    ritz.diagonal.push_back(quotient);
    length = std::sqrt(product_of(image, image));
    std::swap(last, v);
    std::swap(v, image);
    if (!(length > 1e-10 * trace_)) break;  // an invariant subspace, which almost surely meets that of the largest
  }
  const double low = std::max(0.0, ritz.largest_eigenvalue());
  const double steps = 2.0 * static_cast<double>(ritz.diagonal.size()) - 1.0;
  const double root = std::log(1.648 * std::sqrt(static_cast<double>(n)) / doubt) / steps;
  const double relative_error = length > 1e-10 * trace_ ? std::min(1.0, root * root) : 1e-9;
  return {low, std::max(low, std::min(trace_, low / (1.0 - relative_error)))};
}

std::vector<double> norm_factors(const problem::Problem& problem, std::span<const double> norms) {
  const auto mean_of = [&](std::span<const double> numbers) {
    double sum = 0.0;
    for (std::size_t i = 0; i < numbers.size(); ++i) sum += problem.sample.weight(i) * numbers[i];
    return sum / problem.sample.weight_sum;
  };
  std::vector<double> factors(norms.begin(), norms.end());
  const double mean_norm = mean_of(factors);
  if (!(mean_norm > 0.0) || !std::isfinite(mean_norm)) return {};
  for (double& s : factors) s = std::max(s, least_factor * mean_norm);
  const double mean = mean_of(factors);
  for (double& s : factors) s /= mean;
  return factors;
}

RowLevels row_levels(const problem::Problem& problem, std::span<const double> scale, const GradientChoices& choices,
                     double worth) {
  // Norms, traces and both eigenvalues.
  constexpr double dearest = 5.0 + 4.0 * static_cast<double>(lanczos_products);
  if (choices.weights == SmoothingWeights::automatic && dearest > most_setting_up * choices.most_passes) return {};
  RowScatter equal(problem, scale, {});
  std::vector<double> factors = norm_factors(problem, equal.row_norms());
  if (factors.empty()) return {.passes = equal.passes()};
  RowScatter by_norms(problem, scale, factors);
  const auto pays = [&] {
    if (choices.curvature == Curvature::bound) return by_norms.trace() <= worth_of_bound * equal.trace();
    // Traces, which cost little, tell whether eigenvalues are worth their passes.
    if (by_norms.trace() > worth * equal.trace()) return false;
    const double target = worth * equal.largest_eigenvalue(lanczos_products).low;
    return by_norms.trace() <= target || by_norms.largest_eigenvalue(lanczos_products).high <= target;
  };
  const bool taken = choices.weights == SmoothingWeights::norms || pays();
  RowLevels result{.curvature_bound = by_norms.trace(), .passes = equal.passes() + by_norms.passes()};
  if (taken) result.factors = std::move(factors);
  return result;
}

}  // namespace fenchel::solver
