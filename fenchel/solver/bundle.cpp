#include "fenchel/solver/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/solver/simplex_qp.hpp"

namespace fenchel::solver {
namespace {

constexpr int most_idle_steps = 50;
constexpr double inner_share = 0.1;         // of the gap, for the solution of the model
constexpr double model_resolution = 1e-14;  // relative to the objective: what rounding leaves of differences
constexpr int most_newton_steps = 100;

double plain_dot(std::span<const double> a, std::span<const double> b) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  std::size_t j = 0;
  for (; j + 4 <= a.size(); j += 4) {
    s0 += a[j] * b[j];
    s1 += a[j + 1] * b[j + 1];
    s2 += a[j + 2] * b[j + 2];
    s3 += a[j + 3] * b[j + 3];
  }
  for (; j < a.size(); ++j) s0 += a[j] * b[j];
  return (s0 + s1) + (s2 + s3);
}

// `square` without the rows and columns at these places.
std::vector<double> without(const std::vector<double>& square, std::size_t size,
                            std::span<const std::size_t> places) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::binary_search(places.begin(), places.end(), i)) kept.push_back(i);
  }
  std::vector<double> rest;
  rest.reserve(kept.size() * kept.size());
  for (const std::size_t i : kept) {
    for (const std::size_t k : kept) rest.push_back(square[i * size + k]);
  }
  return rest;
}

template <class T>
void erase_places(std::vector<T>& list, std::span<const std::size_t> places) {
  for (std::size_t k = places.size(); k-- > 0;) list.erase(list.begin() + static_cast<std::ptrdiff_t>(places[k]));
}

}  // namespace

Bundle::Bundle(const penalty::Separable& penalty, std::span<const double> start)
    : penalty_(penalty), curved_(start.size(), 1), v_(start.size()), w_(start.begin(), start.end()), best_w_(w_) {}

void Bundle::step(CutOracle& oracle) {
  std::vector<double> slope(w_.size());
  const CutOracle::Answer answer = oracle.cut(w_, slope);
  const double value = answer.value + penalty_.penalty().value(w_);
  improved_ = value < best_;
  if (improved_) {
    best_ = value;
    best_w_ = w_;
  }
  append(std::move(slope), answer.offset);
  const std::vector<double> before = w_;
  minimize_model();
  stationary_ = w_ == before && lower_ > -infinity;
  drop_idle();
}

void Bundle::append(std::vector<double> slope, double offset) {
  const std::size_t old = slopes_.size();
  std::vector<double> scaled(slope.size());
  for (std::size_t j = 0; j < slope.size(); ++j) {
    scaled[j] = curved_[j] != 0 ? slope[j] / penalty_.penalty()[j].l2 : 0.0;
  }
  slopes_.push_back(std::move(slope));
  offsets_.push_back(offset);
  theta_.push_back(old == 0 ? 1.0 : 0.0);
  idle_.push_back(0);
  std::vector<double> products(old + 1);
  parallel_for(old + 1, [&](std::size_t i) { products[i] = plain_dot(slopes_[i], scaled); });
  std::vector<double> grown((old + 1) * (old + 1));
  for (std::size_t i = 0; i < old; ++i) {
    for (std::size_t k = 0; k < old; ++k) grown[i * (old + 1) + k] = matrix_[i * old + k];
    grown[i * (old + 1) + old] = grown[old * (old + 1) + i] = products[i];
  }
  grown.back() = products[old];
  matrix_ = std::move(grown);
}

void Bundle::combine(std::span<const double> theta, std::span<double> v) const {
  for_each_block(v.size(), [&](std::size_t begin, std::size_t end) {
    std::fill(v.begin() + static_cast<std::ptrdiff_t>(begin), v.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      if (theta[i] == 0.0) continue;
      for (std::size_t j = begin; j < end; ++j) v[j] += theta[i] * slopes_[i][j];
    }
  });
}

// The gap of the model's solution must be small against that of the whole, which is known only afterwards.
void Bundle::minimize_model() {
  const double rounding = model_resolution * std::fabs(best_);
  double tolerance = std::max(inner_share * (best_ - lower_), rounding);
  for (;;) {
    const double inner = penalty_.quadratic() ? solve_quadratic(tolerance) : solve_piecewise(tolerance);
    combine(theta_, v_);
    CompensatedSum offset;
    for (std::size_t i = 0; i < theta_.size(); ++i) offset.add(theta_[i] * offsets_[i]);
    lower_ = std::max(lower_, offset.total() - penalty_.conjugate(v_));
    const double wanted = std::max(inner_share * (best_ - lower_), rounding);
    if (!(inner > wanted) || !(inner <= tolerance)) break;  // good enough, as good as it gets, or not a number
    tolerance = 0.5 * wanted;
  }
  penalty_.minimizer(v_, w_);
}

double Bundle::solve_quadratic(double tolerance) {
  return maximize_on_simplex(matrix_, offsets_, theta_, tolerance);
}

std::vector<double> Bundle::derivatives() const {
  std::vector<double> g(slopes_.size()), w(v_.size());
  penalty_.minimizer(v_, w);
  parallel_for(g.size(), [&](std::size_t i) { g[i] = offsets_[i] + plain_dot(slopes_[i], w); });
  return g;
}

double Bundle::solve_piecewise(double tolerance) {
  const std::size_t count = theta_.size();
  std::vector<double> linear(count), next(count), d(v_.size());
  double gap = infinity;
  combine(theta_, v_);
  for (int k = 0; k < most_newton_steps; ++k) {
    const std::vector<double> g = derivatives();
    const double most = *std::max_element(g.begin(), g.end());
    gap = 0.0;
    for (std::size_t i = 0; i < count; ++i) gap += theta_[i] * (most - g[i]);
    if (gap <= tolerance) break;
    curve();
    for (std::size_t i = 0; i < count; ++i) {
      linear[i] = g[i] + plain_dot(std::span(matrix_).subspan(i * count, count), theta_);
    }
    next = theta_;
    maximize_on_simplex(matrix_, linear, next, inner_share * std::min(tolerance, gap));
    double rise = 0.0;
    for (std::size_t i = 0; i < count; ++i) rise += (next[i] - theta_[i]) * (g[i] - most);
    combine(next, d);
    for (std::size_t j = 0; j < d.size(); ++j) d[j] -= v_[j];
    const double s = penalty_.line_maximizer(v_, d, rise);
    if (s == 0.0) break;
    for (std::size_t i = 0; i < count; ++i) theta_[i] += s * (next[i] - theta_[i]);
    combine(theta_, v_);
  }
  return gap;
}

// Coordinates that begin or end to be curved change the matrix by a product each.
void Bundle::curve() {
  const std::size_t count = slopes_.size();
  for (std::size_t j = 0; j < v_.size(); ++j) {
    const bool now = penalty_.curved(j, v_[j]);
    if (now == (curved_[j] != 0)) continue;
    curved_[j] = now ? 1 : 0;
    const double factor = (now ? 1.0 : -1.0) / penalty_.penalty()[j].l2;
    for (std::size_t i = 0; i < count; ++i) {
      const double a = factor * slopes_[i][j];
      if (a == 0.0) continue;
      for (std::size_t k = 0; k < count; ++k) matrix_[i * count + k] += a * slopes_[k][j];
    }
  }
}

void Bundle::drop_idle() {
  dropped_.clear();
  for (std::size_t i = 0; i < theta_.size(); ++i) {
    idle_[i] = theta_[i] > 0.0 ? 0 : idle_[i] + 1;
    if (idle_[i] > most_idle_steps) dropped_.push_back(i);
  }
  if (dropped_.empty()) return;
  matrix_ = without(matrix_, theta_.size(), dropped_);
  erase_places(slopes_, dropped_);
  erase_places(offsets_, dropped_);
  erase_places(theta_, dropped_);
  erase_places(idle_, dropped_);
}

}  // namespace fenchel::solver
