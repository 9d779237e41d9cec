// The weights that sdca offers: a running mean of its own, or the best multiple of that.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

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

// The weights, without padding, that `from` stands for, times a factor; in place, too.
void MulticlassSdca::write_weights(std::span<const double> from, double factor, std::span<double> to) const {
  const std::size_t k = problem_.classes();
  const auto write = [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const penalty::Strength g = problem_.penalty[j];
      for (std::size_t l = 0; l < k; ++l) {
        const double stored = from[j * stride_ + l];
        to[j * k + l] = plain_ ? factor * stored : g.conjugate_gradient(stored);
      }
    }
  };
  const bool closing_up =
      from.data() == to.data() && stride_ != k;  // then every feature goes where the one before has been
  closing_up ? write(0, problem_.dimension()) : for_each_block(problem_.dimension(), write);
}

// Their mean, over many epochs where these gain little by little, of the last ones alone where every epoch gains far less than the
// one before; and the penalty's conjugate, in the same walk.
void MulticlassSdca::take_stock(double gain) {
  const double newest = std::max(least_newest, 1.0 - gain / std::max(last_gain_, gain));
  last_gain_ = gain;
  const bool first = mean_.empty() && std::holds_alternative<loss::MulticlassHinge>(problem_.loss);
  if (first) mean_.resize(stored_.size());
  scattered_ = first;
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
    const penalty::Strength g = problem_.penalty[j];
    double square = 0.0;
    for (std::size_t l = 0; l < k; ++l) {
      const double w = plain_ ? stored[l] : g.conjugate_gradient(stored[l]);
      square += w * w;
    }
    local.add(0.5 * g.l2 * square);
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

// Of all rows, padded like the weights.
LargeVector MulticlassSdca::scores_of(std::span<const double> weights) const {
  LargeVector z(problem_.rows() * stride_);
  const double constant = problem_.design.constant;
  const double* const last = weights.data() + (problem_.dimension() - 1) * stride_;
  std::visit(
      [&](const auto& rows) {
        for_each_block(problem_.rows(), long_rows_in_block, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            double* const scores = z.data() + i * stride_;
            kernel::row_scores(rows.row(i), kernel::detail::PlainWeights{}, weights.data(), stride_, scores);
            for (std::size_t l = 0; constant != 0.0 && l < stride_; ++l) scores[l] += constant * last[l];
          }
        });
      },
      problem_.design.matrix);
  return z;
}

// Where the classes can be separated at almost no loss, the weights miss most margins by a little, and pay for it at every row:
// a multiple of them does not. It takes a pass, after which the gap is known, up to rounding.
void MulticlassSdca::find_best_multiple(std::span<const double> weights) {
  const LargeVector z = scores_of(weights);
  owed_ += 1.0;
  const auto squares = block_sum<CompensatedSum>(problem_.dimension(), [&](std::size_t j, CompensatedSum& sum) {
    double square = 0.0;
    for (std::size_t l = 0; l < stride_; ++l) square += weights[j * stride_ + l] * weights[j * stride_ + l];
    sum.add(square);
  });
  const Multiple best = ClassModel(problem_, stride_).best_multiple(z, squares.total() / (2 * inverse_l2_.front()));
  multiple_ = best.factor;
  const double gap = best.value - dual_value();
  if (!(gap > 0.0 && estimate_.gap > 0.0 && std::isfinite(estimate_.gap))) return;
  credit_ = std::clamp(credit_ * (gap / estimate_.gap), least_credit, most_credit);
  estimate_ = {.gap = gap, .primal = best.value};
}

bool MulticlassSdca::offers_multiples() const { return cornered_ && plain_ && center_.empty(); }

bool MulticlassSdca::offers_mean() const { return !mean_.empty() && !stationary_; }

void MulticlassSdca::prepare_offer() {
  if (prepared_ == epoch_) return;
  prepared_ = epoch_;
  multiple_ = 1.0;
  if (offers_multiples() && !stationary_) find_best_multiple(offers_mean() ? mean_ : stored_);
}

// The mean goes with it, and begins anew: new memory takes longer than the weights do.
problem::MulticlassCandidate MulticlassSdca::candidate() {
  prepare_offer();
  prepared_.reset();
  auto own = std::make_unique<LargeVector>();
  const std::size_t size = problem_.dimension() * problem_.classes();
  if (offers_mean()) {
    *own = std::exchange(mean_, LargeVector());
    write_weights(*own, multiple_, *own);
    own->resize(size);
  } else {
    own->resize(size);
    write_weights(stored_, multiple_, *own);
  }
  const std::span<const double> w = *own;
  return {.w = w, .b = center_, .beta = beta_, .own = std::move(own)};
}

}  // namespace fenchel::solver
