// The weights that sdca offers: a running mean of its own, or the best multiple of that.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/solver/class_model.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"

namespace fenchel::solver {
namespace {

// A guess from few rows may be far off: no verdict on one spoils all that follow.
constexpr double least_credit = 1e-2;
constexpr double most_credit = 10.0;
constexpr double least_newest = 1.0 / 3.0;  // share of the last weights in the running mean

}  // namespace

void MulticlassSdca::write_weights(std::span<const double> from) {
  const std::size_t k = problem_.classes();
  w_.resize(problem_.dimension() * k);
  for_each_block(problem_.dimension(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const penalty::Strength g = problem_.penalty[j];
      for (std::size_t l = 0; l < k; ++l) {
        const double stored = from[j * stride_ + l];
        w_[j * k + l] = plain_ ? stored : g.conjugate_gradient(stored);
      }
    }
  });
}

// Their mean, over many epochs where these gain little by little, of the last ones alone where every epoch gains far less than the
// one before; and the penalty's conjugate, in the same walk.
void MulticlassSdca::take_stock(double gain) {
  const double newest = std::max(least_newest, 1.0 - gain / std::max(last_gain_, gain));
  last_gain_ = gain;
  const bool first = mean_.empty() && std::holds_alternative<loss::MulticlassHinge>(problem_.loss);
  if (first) mean_.resize(stored_.size());
  if (!plain_) write_weights(stored_);
  const std::size_t k = problem_.classes();
  const auto sum = block_sum<CompensatedSum>(problem_.dimension(), [&](std::size_t j, CompensatedSum& local) {
    const double* const stored = &stored_[j * stride_];
    if (!mean_.empty()) {
      double* const mean = &mean_[j * stride_];
      for (std::size_t l = 0; l < stride_; ++l) {
        mean[l] = first ? stored[l] : mean[l] + newest * (stored[l] - mean[l]);
      }
    }
    // g*(u) = (l2/2) w^2 at u = g'(w), which under a plain l2 penalty is the penalty itself, too.
    const double* const w = plain_ ? stored : &w_[j * k];
    double square = 0.0;
    for (std::size_t l = 0; l < k; ++l) square += w[l] * w[l];
    local.add(0.5 * problem_.penalty[j].l2 * square);
  });
  last_conjugate_ = sum.total();
}

double MulticlassSdca::dual_value() const {
  const std::size_t k = problem_.classes();
  return std::visit(
      [&](const auto& loss) {
        const auto sum = block_sum<CompensatedSum>(shares_.size(), [&](std::size_t i, CompensatedSum& local) {
          local.add(shares_[i] * loss.conjugate(problem_.sample.targets[i], std::span(beta_).subspan(i * k, k)));
        });
        return -sum.total() - last_conjugate_;
      },
      problem_.loss);
}

// Where the classes can be separated at almost no loss, the weights miss most margins by a little, and pay for it at every row:
// a multiple of them does not. It takes a pass, after which the gap is known, up to rounding.
void MulticlassSdca::offer_best_multiple() {
  const std::size_t k = problem_.classes();
  LargeVector z(problem_.rows() * k);
  map_.margins(w_, z);
  owed_ += 1.0;
  const auto squares = block_sum<CompensatedSum>(problem_.dimension(), [&](std::size_t j, CompensatedSum& sum) {
    double square = 0.0;
    for (std::size_t l = 0; l < k; ++l) square += w_[j * k + l] * w_[j * k + l];
    sum.add(square);
  });
  const Multiple best = ClassModel(problem_, k).best_multiple(z, squares.total() / (2 * inverse_l2_.front()));
  for_each_block(w_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) w_[e] *= best.factor;
  });
  const double gap = best.value - dual_value();
  if (!(gap > 0.0 && estimate_.gap > 0.0 && std::isfinite(estimate_.gap))) return;
  credit_ = std::clamp(credit_ * (gap / estimate_.gap), least_credit, most_credit);
  estimate_ = {.gap = gap, .primal = best.value};
}

bool MulticlassSdca::offers_multiples() const { return cornered_ && plain_ && center_.empty(); }

void MulticlassSdca::prepare_offer() {
  if (prepared_ == epoch_) return;
  prepared_ = epoch_;
  write_weights(mean_.empty() || stationary_ ? stored_ : mean_);
  if (offers_multiples() && !stationary_) offer_best_multiple();
}

problem::MulticlassCandidate MulticlassSdca::candidate() {
  prepare_offer();
  prepared_.reset();  // the weights go with the offer
  auto own = std::make_unique<LargeVector>(std::move(w_));
  return {.w = *own, .b = center_, .beta = beta_, .own = std::move(own)};
}

}  // namespace fenchel::solver
