#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/solver/agm_space.hpp"
#include "fenchel/solver/metric.hpp"

namespace fenchel::solver {
namespace {

class RiskPart final : public SmoothPart {
 public:
  explicit RiskPart(const problem::Problem& problem)
      : sample_(problem.sample),
        risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
        alpha_(problem.rows()) {}

  void smooth(double mu) { risk_.smooth(mu); }
  [[nodiscard]] double smoothing() const { return risk_.smoothing(); }
  [[nodiscard]] std::span<const double> alpha() const { return alpha_; }
  // The average of (1/sum c) sum_i (c_i/2) alpha_i^2, alpha that of each gradient.
  [[nodiscard]] double half_square() const { return half_square_; }

  void locate(AgmPoint& point) override { risk_.margins(point.x, point.image); }
  double value(AgmPoint& point) override {
    return as_state(point, [&](risk::Pointwise::State& state) {
      risk_.settle(state);
      return risk_.value(state);
    });
  }
  double gradient(AgmPoint& point, std::span<double> gradient) override {
    return as_state(point, [&](risk::Pointwise::State& state) {
      risk_.settle(state);
      return risk_.gradient(state, gradient);
    });
  }
  double unsmoothed_value(AgmPoint& point) {
    return as_state(point, [&](risk::Pointwise::State& state) { return risk_.unsmoothed_value(state); });
  }

  void average(double theta) override {
    const std::span<const double> latest = risk_.dual();
    const auto sum = block_sum<CompensatedSum>(alpha_.size(), [&](std::size_t i, CompensatedSum& s) {
      alpha_[i] = (1.0 - theta) * alpha_[i] + theta * latest[i];
      s.add(0.5 * sample_.weight(i) * latest[i] * latest[i]);
    });
    half_square_ = (1.0 - theta) * half_square_ + theta * (sum.total() / sample_.weight_sum);
  }

 private:
  // The risk's view of the point, without a copy of its margins.
  template <class Use>
  double as_state(AgmPoint& point, Use&& use) {
    std::swap(state_.z, point.image);
    state_.b = point.hint;
    const double result = use(state_);
    point.hint = state_.b;
    std::swap(state_.z, point.image);
    return result;
  }

  risk::Sample sample_;
  risk::Pointwise risk_;
  risk::Pointwise::State state_;
  std::vector<double> alpha_;
  double half_square_ = 0.0;
};

// A separable penalty and d(w) = sum_j D_j w_j^2 / 2.
class PenaltyPart final : public SimplePart {
 public:
  explicit PenaltyPart(const penalty::Separable& penalty)
      : penalty_(penalty), metric_(metric_of(penalty)), convexity_(least_curvature(penalty, metric_)) {}

  [[nodiscard]] double convexity() const override { return convexity_; }
  [[nodiscard]] double value(std::span<const double> w) const override { return penalty_.value(w); }
  void mirror(std::span<const double> w, std::span<double> result) const override {
    for (std::size_t j = 0; j < w.size(); ++j) result[j] = metric(j) * w[j];
  }
  [[nodiscard]] double divergence(std::span<const double> w, std::span<const double> centre) const override {
    double sum = 0.0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += metric(j) * (w[j] - centre[j]) * (w[j] - centre[j]);
    return 0.5 * sum;
  }
  void minimize(std::span<const double> pull, double weight, std::span<double> w) override {
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = penalty_[j];
      w[j] = penalty::soft_threshold(pull[j], g.l1) / (weight * metric(j) + g.l2);
    }
  }

 private:
  [[nodiscard]] double metric(std::size_t j) const { return metric_.empty() ? 1.0 : metric_[j]; }

  penalty::Separable penalty_;
  std::vector<double> metric_;
  double convexity_;
};

class PrimalSpace final : public AgmSpace {
 public:
  explicit PrimalSpace(const problem::Problem& problem)
      : problem_(problem),
        risk_(problem),
        penalty_(problem.penalty),
        mean_square_norm_(mean_square_norm(problem, metric_of(problem.penalty))) {}

  SmoothPart& smooth_part() override { return risk_; }
  SimplePart& simple_part() override { return penalty_; }
  AgmPoint start(const Start& start) override {
    AgmPoint point{.x = {start.w.begin(), start.w.end()}, .image = {}, .hint = start.b};
    point.x.resize(problem_.dimension(), 0.0);
    risk_.locate(point);
    return point;
  }
  void smooth(double mu) override { risk_.smooth(mu); }
  [[nodiscard]] double curvature_bound() const override {
    return mean_square_norm_ / (loss::smoothness(problem_.loss) + risk_.smoothing());
  }
  [[nodiscard]] double curvature_growth(double fall) const override { return fall; }

  // The dual point of the averaged gradients: its value is offset + mu half_square - sum_j g_j*(-slope_j), after scaling by
  // s <= 1 where an l1 part asks for it.
  AgmGauge gauge(AcceleratedGradient& method) override {
    const std::span<const double> slope = method.slope();
    const std::span<const double> w = method.x().x;
    double scale = 1.0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = problem_.penalty[j];
      if (g.l2 == 0.0 && g.l1 > 0.0 && std::fabs(slope[j]) > g.l1) {
        scale = std::min(scale, g.l1 / std::fabs(slope[j]));
      }
    }
    double conjugate = 0.0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = problem_.penalty[j];
      if (g.unpenalized()) {
        conjugate += std::fabs(w[j] * slope[j]);
      } else if (g.l2 > 0.0) {
        conjugate += g.conjugate(-scale * slope[j]);
      }
    }
    const double mu = risk_.smoothing();
    if (mu == 0.0) {
      // Of a smooth risk the latest gradient is a dual point as well, and the better one near the optimum.
      const double averaged = method.value() - (scale * method.offset() - conjugate);
      const double latest = gradient_gap(problem_.penalty, method.smooth_value(), method.u(), method.gradient());
      latest_is_better_ = latest < averaged;
      const double gap = std::min(latest, averaged);
      return {.primal = method.value(), .gap = gap, .smoothed_gap = gap, .smoothing_gap = 0.0};
    }
    const double lifted = risk_.unsmoothed_value(method.x()) - method.smooth_value();
    const double smoothed_gap = method.value() - (scale * method.offset() - conjugate);
    const double smoothing_gap = lifted - scale * mu * risk_.half_square();
    return {.primal = method.value() + lifted,
            .gap = smoothed_gap + smoothing_gap,
            .smoothed_gap = smoothed_gap,
            .smoothing_gap = smoothing_gap};
  }
  problem::Candidate candidate(AcceleratedGradient& method) override {
    const bool latest = risk_.smoothing() == 0.0 && latest_is_better_;
    return {.w = method.x().x, .b = method.x().hint, .alpha = latest ? std::span<const double>() : risk_.alpha()};
  }

 private:
  problem::Problem problem_;
  RiskPart risk_;
  PenaltyPart penalty_;
  double mean_square_norm_;
  bool latest_is_better_ = false;
};

}  // namespace

std::unique_ptr<AgmSpace> primal_space(const problem::Problem& problem) {
  return std::make_unique<PrimalSpace>(problem);
}

}  // namespace fenchel::solver
