// Accelerated gradient methods for regularized risks (see accelerated_gradient.hpp), in the primal or in the dual (agm_space.hpp).
// A loss that is not smooth is smoothed, either at a given level mu, or at levels that fall (homotopy): a stage ends when the
// gap of the smoothed problem is at most half of what the smoothing costs, and the next one starts from where it stood. What it costs is
// measured, sum_i c_i [phi(z_i) + phi*(-alpha_i) + alpha_i z_i] / sum c at the smoothed problem's own alpha, and far less than the bound
// mu max alpha^2 / 2 where few rows sit at their kink: levels chosen by the bound would fall much too fast. Without strong
// convexity anywhere, the method also starts afresh whenever the gap has fallen to a tenth.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/agm_space.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Agm : public Solver {
 public:
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);
  static constexpr std::array<std::string_view, 3> takes{option::smoothing, option::space, option::curvature};

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 protected:
  enum class Form { infinity, one };
  Agm(Form form, const problem::Problem& problem, const Start& start, const Conduct& conduct);

 private:
  void restart(AgmPoint point, double L);
  void keep(const Estimate& estimate);

  // The best pair so far at the end of a run of the method: a fresh one has poor averages at first.
  struct Kept {
    std::vector<double> w, alpha;
    double b = 0.0;
    Estimate estimate;
  };

  std::unique_ptr<AgmSpace> space_;
  std::unique_ptr<AcceleratedGradient> method_;
  bool adaptive_;
  double mu_;              // 0: not smoothed
  bool annealed_ = false;  // whether mu falls
  double least_mu_ = 0.0;
  double gap_at_start_ = infinity;  // of the smoothed problem, after the first step since the last restart
  std::size_t stage_steps_ = 0;
  Kept kept_;
  Estimate estimate_;  // of the present pair, or of the one that is kept, whichever is better
  bool stationary_ = false;
};

class AgmInf final : public Agm {
 public:
  static constexpr std::string_view name = "agm-inf";
  static constexpr std::string_view summary =
      "accelerated gradient on all models of the risk, smoothed where it has corners";
  AgmInf(const problem::Problem& problem, const Start& start, const Conduct& conduct)
      : Agm(Form::infinity, problem, start, conduct) {}
};

class Agm1 final : public Agm {
 public:
  static constexpr std::string_view name = "agm-1";
  static constexpr std::string_view summary =
      "accelerated gradient on the latest model of the risk, smoothed where it has corners";
  Agm1(const problem::Problem& problem, const Start& start, const Conduct& conduct)
      : Agm(Form::one, problem, start, conduct) {}
};

}  // namespace fenchel::solver
