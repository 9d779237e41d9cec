#include "fenchel/risk/pointwise_dual.hpp"
#include "fenchel/solver/agm_space.hpp"
#include "fenchel/solver/metric.hpp"
#include "fenchel/solver/row_levels.hpp"

namespace fenchel::solver {
namespace {

// The conjugate of the penalty at u(alpha), which is the image of a point.
class ConjugatePart final : public SmoothPart {
 public:
  ConjugatePart(const penalty::Separable& penalty, risk::PointwiseDual& risk)
      : penalty_(penalty), risk_(risk), w_(risk.dimension()), mean_w_(risk.dimension()) {}

  [[nodiscard]] std::span<const double> mean_w() const { return mean_w_; }

  void locate(AgmPoint& point) override {
    point.image.resize(w_.size());
    risk_.induce(point.x, point.image);
  }
  double value(AgmPoint& point) override {
    double sum = 0.0;
    for (std::size_t j = 0; j < w_.size(); ++j) sum += penalty_[j].conjugate(point.image[j]);
    return sum;
  }
  double gradient(AgmPoint& point, std::span<double> gradient) override {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = penalty_[j].conjugate_gradient(point.image[j]);
    risk_.margins(w_, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= risk_.rho()[i];
    return value(point);
  }
  void average(double theta) override {
    for (std::size_t j = 0; j < w_.size(); ++j) mean_w_[j] = (1.0 - theta) * mean_w_[j] + theta * w_[j];
  }

 private:
  penalty::Separable penalty_;
  risk::PointwiseDual& risk_;
  std::vector<double> w_, mean_w_;
};

// R*(alpha) + (mu/2) ||alpha||^2 and d(alpha) = ||alpha||^2 / 2.
class LossConjugatePart final : public SimplePart {
 public:
  explicit LossConjugatePart(risk::PointwiseDual& risk) : risk_(risk), scores_(risk.rows()) {}

  void smooth(double mu) { mu_ = mu; }

  [[nodiscard]] double convexity() const override { return risk_.convexity() + mu_; }
  [[nodiscard]] double value(std::span<const double> alpha) const override {
    return risk_.conjugate(alpha) + mu_ * risk_.half_square_distance(alpha, {});
  }
  void mirror(std::span<const double> alpha, std::span<double> result) const override {
    for (std::size_t i = 0; i < alpha.size(); ++i) result[i] = risk_.length_weight(i) * alpha[i];
  }
  [[nodiscard]] double divergence(std::span<const double> alpha, std::span<const double> centre) const override {
    return risk_.half_square_distance(alpha, centre);
  }
  void minimize(std::span<const double> pull, double weight, std::span<double> alpha) override {
    const std::span<const double> rho = risk_.rho();
    for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] = rho[i] > 0.0 ? -pull[i] / rho[i] : 0.0;
    b_ = risk_.step(scores_, {}, weight + mu_, b_, alpha);
  }

 private:
  risk::PointwiseDual& risk_;
  double mu_ = 0.0;
  std::vector<double> scores_;
  double b_ = 0.0;
};

class DualSpace final : public AgmSpace<OneOutput> {
 public:
  explicit DualSpace(const problem::Problem& problem)
      : problem_(problem),
        dual_(problem.design, problem.sample, problem.loss, problem.free_bias),
        conjugate_(problem.penalty, dual_),
        losses_(dual_),
        risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
        curvature_bound_(conjugate_curvature(problem.penalty, dual_)) {}

  SmoothPart& smooth_part() override { return conjugate_; }
  SimplePart& simple_part() override { return losses_; }
  AgmPoint start(const Start& start) override {
    AgmPoint point{.x = {start.alpha.begin(), start.alpha.end()}, .image = {}};
    point.x.resize(problem_.rows(), 0.0);
    // The bound on the curvature at levels by row is one between points with sum rho alpha = 0.
    if (problem_.free_bias && !levels_.factors.empty() && !start.alpha.empty()) {
      constexpr double almost_a_projection = 1e6;
      std::vector<double> balanced(problem_.rows());
      dual_.step(std::vector<double>(problem_.rows(), 0.0), point.x, almost_a_projection, 0.0, balanced);
      point.x = std::move(balanced);
    }
    conjugate_.locate(point);
    at_mean_.b = start.b;
    return point;
  }
  double weigh_rows(const GradientChoices& choices) override {
    constexpr double worth = 0.9;
    levels_ = row_levels(problem_, inverse_curvatures(problem_.penalty, problem_.dimension()), choices, worth);
    if (!levels_.factors.empty()) curvature_bound_ = levels_.curvature_bound;
    dual_.measure_by(levels_.factors);
    return levels_.passes;
  }
  void smooth(double mu) override {
    losses_.smooth(mu);
    risk_.smooth({.mu = mu, .factors = levels_.factors});
  }
  [[nodiscard]] double curvature_bound() const override { return curvature_bound_; }
  [[nodiscard]] double curvature_growth(double /*fall*/) const override { return 1.0; }

  // The primal point is the average of the w behind the gradients, whose margins are the averaged gradient.
  AgmGauge gauge(AcceleratedGradient& method) override {
    const std::span<const double> slope = method.slope();
    const std::span<const double> rho = dual_.rho();
    at_mean_.z.resize(slope.size());
    for (std::size_t i = 0; i < slope.size(); ++i) at_mean_.z[i] = rho[i] > 0.0 ? slope[i] / rho[i] : 0.0;
    risk_.settle(at_mean_);
    const std::span<const double> alpha = method.x().x;
    const double penalty = problem_.penalty.value(conjugate_.mean_w());
    const double primal = risk_.unsmoothed_value(at_mean_) + penalty;
    const double gap = primal + method.smooth_value() + dual_.conjugate(alpha);
    const double smoothed_gap = risk_.value(at_mean_) + penalty + method.value();
    return {.primal = primal, .gap = gap, .smoothed_gap = smoothed_gap, .smoothing_gap = gap - smoothed_gap};
  }
  problem::Candidate candidate(AcceleratedGradient& method) override {
    return {.w = conjugate_.mean_w(), .b = at_mean_.b, .alpha = method.x().x};
  }

 private:
  problem::Problem problem_;
  RowLevels levels_;
  risk::PointwiseDual dual_;
  ConjugatePart conjugate_;
  LossConjugatePart losses_;
  risk::Pointwise risk_;
  risk::Pointwise::State at_mean_;
  double curvature_bound_;
};

}  // namespace

std::unique_ptr<AgmSpace<OneOutput>> dual_space(const problem::Problem& problem) {
  return std::make_unique<DualSpace>(problem);
}

}  // namespace fenchel::solver
