#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/solver/agm_space.hpp"
#include "fenchel/solver/metric.hpp"
#include "fenchel/solver/row_levels.hpp"

namespace fenchel::solver {
namespace {

// The risk, smoothed or not, with the average of the duals behind its gradients.
template <class Kind>
class RiskPart final : public SmoothPart {
 public:
  using Risk = typename Kind::Risk;

  explicit RiskPart(const typename Kind::Problem& problem)
      : sample_(problem.sample),
        width_(Kind::width(problem)),
        risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
        alpha_(problem.rows() * width_) {}

  void smooth(double mu, std::span<const double> factors) {
    levels_ = {.mu = mu, .factors = factors};
    Kind::set_levels(risk_, mu, factors);
  }
  [[nodiscard]] const Risk& risk() const { return risk_; }
  [[nodiscard]] std::span<const double> alpha() const { return alpha_; }
  // The average of (1/sum c) sum_i (c_i/2) s_i ||alpha_i||^2, alpha that of each gradient.
  [[nodiscard]] double half_square() const { return half_square_; }

  void locate(AgmPoint& point) override { risk_.margins(point.x, point.image); }
  double value(AgmPoint& point) override {
    return as_state(point, [&](State& state) {
      risk_.settle(state);
      return risk_.value(state);
    });
  }
  double gradient(AgmPoint& point, std::span<double> gradient) override {
    return as_state(point, [&](State& state) {
      risk_.settle(state);
      return risk_.gradient(state, gradient);
    });
  }
  double unsmoothed_value(AgmPoint& point) {
    return as_state(point, [&](State& state) { return risk_.unsmoothed_value(state); });
  }

  void average(double theta) override {
    const std::span<const double> latest = risk_.dual();
    const auto sum = block_sum<CompensatedSum>(alpha_.size() / width_, [&](std::size_t i, CompensatedSum& s) {
      double square = 0.0;
      for (std::size_t e = i * width_; e < (i + 1) * width_; ++e) {
        alpha_[e] = (1.0 - theta) * alpha_[e] + theta * latest[e];
        square += latest[e] * latest[e];
      }
      s.add(0.5 * sample_.weight(i) * levels_.factor(i) * square);
    });
    half_square_ = (1.0 - theta) * half_square_ + theta * (sum.total() / sample_.weight_sum);
  }

 private:
  using State = typename Risk::State;

  // The risk's view of the point, without a copy of its margins.
  template <class Use>
  double as_state(AgmPoint& point, Use&& use) {
    std::swap(state_.z, point.image);
    state_.b = Kind::bias(point.hint);
    const double result = use(state_);
    point.hint = Kind::numbers(state_.b);
    std::swap(state_.z, point.image);
    return result;
  }

  decltype(Kind::Problem::sample) sample_;
  risk::Levels levels_;
  std::size_t width_;  // duals a row
  Risk risk_;
  State state_;
  std::vector<double> alpha_;
  double half_square_ = 0.0;
};

// A separable penalty and d(w) = sum_j D_j w_j^2 / 2, or a constraint.
class PenaltyPart final : public SimplePart {
 public:
  explicit PenaltyPart(const penalty::Regularizer& penalty)
      : penalty_(penalty), metric_(metric_of(penalty)), convexity_(least_curvature(penalty, metric_)) {}

  [[nodiscard]] const penalty::Regularizer& penalty() const { return penalty_; }
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
    if (const auto& constraint = penalty_.constraint()) penalty::project(*constraint, w);
  }

  // The conjugate at -s slope, and s <= 1, by which an l1 part asks duals to be scaled. Unpenalised coordinates, whose
  // slope has to vanish, are charged for what is left of it at w.
  struct Conjugate {
    double value = 0.0;
    double scale = 1.0;
  };
  [[nodiscard]] Conjugate conjugate(std::span<const double> slope, std::span<const double> w) const {
    Conjugate result;
    if (const auto& constraint = penalty_.constraint()) {
      std::vector<double> u(slope.begin(), slope.end());
      for (double& x : u) x = -x;
      result.value = penalty::support(*constraint, u);
      return result;
    }
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = penalty_[j];
      if (g.l2 == 0.0 && g.l1 > 0.0 && std::fabs(slope[j]) > g.l1) {
        result.scale = std::min(result.scale, g.l1 / std::fabs(slope[j]));
      }
    }
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = penalty_[j];
      if (g.unpenalized()) {
        result.value += std::fabs(w[j] * slope[j]);
      } else if (g.l2 > 0.0) {
        result.value += g.conjugate(-result.scale * slope[j]);
      }
    }
    return result;
  }

 private:
  [[nodiscard]] double metric(std::size_t j) const { return metric_.empty() ? 1.0 : metric_[j]; }

  penalty::Regularizer penalty_;
  std::vector<double> metric_;
  double convexity_;
};

// Only losses of one output have levels by row.
RowLevels levels_of(const problem::Problem& problem, const GradientChoices& choices) {
  std::vector<double> inverse = metric_of(problem.penalty);
  for (double& m : inverse) m = 1.0 / m;
  // Only rows as near to a kink as their level bend a smoothed risk, and wider levels catch more of them: the curvature that is
  // searched falls by less than Gamma.
  constexpr double worth_of_search = 0.5;
  return row_levels(problem, inverse, choices, worth_of_search);
}
RowLevels levels_of(const problem::MulticlassProblem& /*problem*/, const GradientChoices& /*choices*/) {
  return {};
}

template <class Kind>
class PrimalSpace final : public AgmSpace<Kind> {
 public:
  explicit PrimalSpace(const typename Kind::Problem& problem)
      : problem_(problem),
        risk_(problem),
        penalty_(Kind::penalty(problem)),
        curvature_(mean_square_norm(problem, metric_of(problem.penalty))) {}

  SmoothPart& smooth_part() override { return risk_; }
  SimplePart& simple_part() override { return penalty_; }
  AgmPoint start(const typename Kind::Start& start) override {
    AgmPoint point{
        .x = {start.w.begin(), start.w.end()}, .image = {}, .hint = Kind::numbers(Kind::bias(problem_, start))};
    point.x.resize(problem_.dimension() * Kind::width(problem_), 0.0);
    if (const auto& constraint = penalty_.penalty().constraint()) penalty::project(*constraint, point.x);
    risk_.locate(point);
    return point;
  }
  double weigh_rows(const GradientChoices& choices) override {
    levels_ = levels_of(problem_, choices);
    if (!levels_.factors.empty()) curvature_ = levels_.curvature_bound;
    return levels_.passes;
  }
  void smooth(double mu) override { risk_.smooth(mu, levels_.factors); }
  [[nodiscard]] double curvature_bound() const override { return curvature_ / risk_.risk().smoothness(); }
  [[nodiscard]] double curvature_growth(double fall) const override { return fall; }

  // The dual point of the averaged gradients: its value is offset + mu half_square - Omega*(-slope), after scaling by
  // s <= 1 where an l1 part asks for it.
  AgmGauge gauge(AcceleratedGradient& method) override {
    const auto [conjugate, scale] = penalty_.conjugate(method.slope(), method.x().x);
    const double smoothed_gap = method.value() - (scale * method.offset() - conjugate);
    const double mu = risk_.risk().smoothing();
    if (mu == 0.0) {
      // Of a smooth risk the latest gradient is a dual point as well, and the better one near the optimum.
      const double latest = gradient_gap(penalty_.penalty(), method.smooth_value(), method.u(), method.gradient());
      latest_is_better_ = latest < smoothed_gap;
      const double gap = std::min(latest, smoothed_gap);
      return {.primal = method.value(), .gap = gap, .smoothed_gap = gap, .smoothing_gap = 0.0};
    }
    const double lifted = risk_.unsmoothed_value(method.x()) - method.smooth_value();
    const double smoothing_gap = lifted - scale * mu * risk_.half_square();
    return {.primal = method.value() + lifted,
            .gap = smoothed_gap + smoothing_gap,
            .smoothed_gap = smoothed_gap,
            .smoothing_gap = smoothing_gap};
  }
  typename Kind::Candidate candidate(AcceleratedGradient& method) override {
    const bool latest = risk_.risk().smoothing() == 0.0 && latest_is_better_;
    bias_ = Kind::bias(method.x().hint);
    return {method.x().x, bias_, latest ? std::span<const double>() : risk_.alpha()};
  }

 private:
  typename Kind::Problem problem_;
  RowLevels levels_;
  RiskPart<Kind> risk_;
  PenaltyPart penalty_;
  double curvature_;            // that of f, times the smoothness of the loss
  typename Kind::Bias bias_{};  // of the last candidate
  bool latest_is_better_ = false;
};

}  // namespace

std::unique_ptr<AgmSpace<OneOutput>> primal_space(const problem::Problem& problem) {
  return std::make_unique<PrimalSpace<OneOutput>>(problem);
}

std::unique_ptr<AgmSpace<AllClasses>> primal_space(const problem::MulticlassProblem& problem) {
  return std::make_unique<PrimalSpace<AllClasses>>(problem);
}

}  // namespace fenchel::solver
