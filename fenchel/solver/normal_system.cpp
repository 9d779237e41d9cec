#include "fenchel/solver/normal_system.hpp"

#include <algorithm>
#include <cmath>

namespace fenchel::solver {
namespace {

constexpr std::size_t largest_dense = 2000;
// What conjugate gradients are expected to take, in products with H, before anything is known.
constexpr double expected_iterations = 30.0;
// A multiplication inside a factorisation is so much cheaper than one that is scattered.
constexpr double factor_speed = 4.0;
// A sample of the rows that stands for all.
constexpr std::size_t rows_a_column = 50;
constexpr double most_thinned = 16.0;
constexpr int updates_of_the_gram = 20;
constexpr double same_scale = 1e4;
constexpr int most_iterations = 500;

double inner(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// The weight of the rows that are light, and of those among them that stay in the sample.
struct Light {
  double whole = 0.0, kept = 0.0;
  void add(const Light& other) {
    whole += other.whole;
    kept += other.kept;
  }
};

double square_over(std::span<const double> a, std::span<const double> metric) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * (a[j] / metric[j]);
  return sum;
}

}  // namespace

NormalSystem::NormalSystem(RowSums& sums, std::size_t rows) : sums_(sums), rows_(rows) {}

double NormalSystem::direct_work(double gram) const {
  const auto d = static_cast<double>(sums_.dimension());
  return gram + d * d * d / (6 * factor_speed);
}

double NormalSystem::assemble(kernel::RowList list, std::span<const double> ridge, double scale,
                              std::span<const double> h, double slack, bool thin) {
  ridge_.assign(ridge.begin(), ridge.end());
  scale_ = scale;
  given_ = h;
  if (direct_) find_held();
  sums_.select(
      list, [&](std::size_t i) { return h[i] > 0.0; }, active_);
  if (sums_.dimension() <= largest_dense && !direct_) {
    const double iterations =
        last_iterations_work_ > 0.0 ? last_iterations_work_ : expected_iterations * 2 * active_.nonzeros;
    direct_ = direct_work(sums_.gram_work(active_.rows)) <= iterations;
  }
  complete_ = true;
  if (!direct_) return prepare_iterations();
  if (thin) thin_out();
  const double work = update_gram(slack);
  held_ = LargeList();
  factorize();
  return direct_work(work) / sums_.nonzeros();
}

// Keeps rows that weigh as much as several, and a fixed pseudo-random choice of the others, many more than columns, each
// with the weight of several.
void NormalSystem::thin_out() {
  const std::span<const double> h = given_;
  const auto wanted = static_cast<double>(rows_a_column * sums_.dimension());
  const auto rows = static_cast<double>(active_.rows.size());
  const double stride = std::min(most_thinned, std::floor(rows / wanted));
  if (stride < 2.0) return;
  const double sum = block_sum<Light>(active_.rows.size(), [&](std::size_t k, Light& all) {
                       all.whole += h[active_.rows[k]];
                     }).whole;
  sample_ = {.heavy = stride * sum / rows, .below = static_cast<std::uint32_t>(0x1p32 / stride)};
  const auto kept = [&](std::uint32_t i) { return sample_.has(i, h[i]); };
  const auto light = block_sum<Light>(active_.rows.size(), [&](std::size_t k, Light& part) {
    const std::uint32_t i = active_.rows[k];
    if (h[i] >= sample_.heavy) return;
    part.whole += h[i];
    if (kept(i)) part.kept += h[i];
  });
  if (!(light.kept > 0.0)) return;
  complete_ = false;
  sample_.factor = light.whole / light.kept;
  const LargeList all = std::move(active_.rows);
  sums_.select(all, kept, active_);
}

double NormalSystem::wanted(std::uint32_t row) const {
  const double weight = given_[row];
  if (complete_ || weight >= sample_.heavy) return weight;
  return sample_.has(row, weight) ? weight * sample_.factor : 0.0;
}

double NormalSystem::update_gram(double slack) {
  weights_.resize(rows_, 0.0);
  RowSums::Cut changed;
  const auto differs = [&](std::uint32_t i) {
    const double now = wanted(i), before = weights_[i];
    return now != before && std::fabs(now - before) >= slack * std::max(now, before);
  };
  RowSums::append(held_, differs, changed.rows);
  RowSums::append(
      active_.rows, [&](std::size_t i) { return weights_[i] == 0.0; }, changed.rows);
  sums_.bind(changed);
  const double whole = sums_.gram_work(active_.rows), part = sums_.gram_work(changed.rows);
  if (gram_.empty() || part >= whole || ++updates_ >= updates_of_the_gram) {
    form_gram();
    return whole;
  }
  // What is added stands in the place of the weights for so long.
  for (const std::uint32_t i : changed.rows) weights_[i] = wanted(i) - weights_[i];
  sums_.add_gram(changed, weights_, gram_.lower());
  for (const std::uint32_t i : changed.rows) weights_[i] = wanted(i);
  return part;
}

void NormalSystem::form_gram() {
  gram_.clear(sums_.dimension());
  updates_ = 0;
  for (const std::uint32_t i : held_) weights_[i] = 0.0;
  for (const std::uint32_t i : active_.rows) weights_[i] = wanted(i);
  sums_.add_gram(active_, weights_, gram_.lower());
}

void NormalSystem::rest() {
  if (direct_) active_.rows = LargeList();
}

void NormalSystem::find_held() {
  std::swap(held_, active_.rows);
  if (!held_.empty()) return;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] > 0.0) held_.push_back(static_cast<std::uint32_t>(i));
  }
}

// Rounding may leave the sum of a tiny ridge and a large matrix without a positive pivot; then the diagonal grows until it has.
void NormalSystem::factorize() {
  const Eigen::Map<const dense::Vector> ridge(ridge_.data(), static_cast<Eigen::Index>(ridge_.size()));
  double lift = 0.0;
  while (!gram_.factorize(scale_, ridge, lift) && !(lift > 1.0)) lift = lift == 0.0 ? 1e-14 : 10 * lift;
}

double NormalSystem::prepare_iterations() {
  diagonal_.assign(sums_.dimension(), 0.0);
  sums_.add_squares(active_, given_, diagonal_);
  for (std::size_t j = 0; j < diagonal_.size(); ++j) {
    const double whole = ridge_[j] + scale_ * diagonal_[j];
    // Half way between the ridge and the diagonal of H needs the fewest iterations on text; columns on a scale of their own
    // need it all.
    diagonal_[j] = whole <= same_scale * ridge_[j] ? std::sqrt(ridge_[j] * whole) : whole;
  }
  return active_.nonzeros / sums_.nonzeros();
}

double NormalSystem::solve(std::span<const double> rhs, std::span<const double> metric, double forcing,
                           std::span<double> d, std::span<double> residual) {
  return direct_ ? solve_direct(rhs, d, residual) : solve_iteratively(rhs, metric, forcing, d, residual);
}

// With one step of iterative refinement, which a lifted diagonal or a bad condition needs and others hardly notice.
double NormalSystem::solve_direct(std::span<const double> rhs, std::span<double> d, std::span<double> residual) {
  const auto size = static_cast<Eigen::Index>(rhs.size());
  const Eigen::Map<const dense::Vector> b(rhs.data(), size), ridge(ridge_.data(), size);
  Eigen::Map<dense::Vector> x(d.data(), size), r(residual.data(), size);
  const auto look = [&] {
    gram_.multiply(x, r);
    r = b - scale_ * r - ridge.cwiseProduct(x);
  };
  x = b;
  gram_.solve_in_place(x);
  look();
  dense::Vector correction = r;
  gram_.solve_in_place(correction);
  const double before = r.norm();
  x += correction;
  look();
  if (!(r.norm() <= before)) {
    x -= correction;
    look();
  }
  return 0.0;
}

double NormalSystem::solve_iteratively(std::span<const double> rhs, std::span<const double> metric, double forcing,
                                       std::span<double> d, std::span<double> residual) {
  const std::size_t size = rhs.size();
  std::fill(d.begin(), d.end(), 0.0);
  std::copy(rhs.begin(), rhs.end(), residual.begin());
  direction_.assign(size, 0.0);
  product_.resize(size);
  preconditioned_.resize(size);
  const double target = forcing * forcing * square_over(rhs, metric);
  double rho = 0.0;
  int iterations = 0;
  while (iterations < most_iterations && square_over(residual, metric) > target) {
    for (std::size_t j = 0; j < size; ++j) preconditioned_[j] = residual[j] / diagonal_[j];
    const double next = inner(residual, preconditioned_);
    const double beta = rho > 0.0 ? next / rho : 0.0;
    rho = next;
    for (std::size_t j = 0; j < size; ++j) direction_[j] = preconditioned_[j] + beta * direction_[j];
    sums_.product(active_, given_, direction_, product_);
    for (std::size_t j = 0; j < size; ++j) product_[j] = ridge_[j] * direction_[j] + scale_ * product_[j];
    const double curvature = inner(direction_, product_);
    ++iterations;
    if (!(curvature > 0.0)) break;
    const double step = rho / curvature;
    for (std::size_t j = 0; j < size; ++j) {
      d[j] += step * direction_[j];
      residual[j] -= step * product_[j];
    }
  }
  last_iterations_work_ = 2.0 * active_.nonzeros * iterations;
  return last_iterations_work_ / sums_.nonzeros();
}

}  // namespace fenchel::solver
