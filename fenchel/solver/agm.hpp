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
#include <utility>
#include <vector>

#include "fenchel/solver/agm_space.hpp"
#include "fenchel/solver/problem_kind.hpp"

namespace fenchel::solver {

template <class Kind>
inline constexpr std::array<std::string_view, 4> agm_options{option::smoothing, option::space, option::curvature,
                                                             option::smoothing_weights};
template <>
inline constexpr std::array<std::string_view, 2> agm_options<AllClasses>{option::smoothing, option::curvature};

template <class Kind>
class Agm : public Kind::Method {
 public:
  using Problem = typename Kind::Problem;
  using Start = typename Kind::Start;
  using Candidate = typename Kind::Candidate;

  static constexpr bool constrains = true;  // takes a constraint in place of a penalty
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const typename Kind::Loss& loss,
                                                 const penalty::Regularizer& penalty);

  double step() override;
  [[nodiscard]] double passes_aside() override { return std::exchange(passes_ahead_, 0.0); }
  [[nodiscard]] Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 protected:
  enum class Form { infinity, one };
  Agm(Form form, const Problem& problem, const Start& start, const Conduct& conduct);

 private:
  void restart(AgmPoint point, double L);
  void keep(const Estimate& estimate);

  // The best pair so far at the end of a run of the method: a fresh one has poor averages at first.
  struct Kept {
    std::vector<double> w, dual;
    typename Kind::Bias b{};
    Estimate estimate;
  };

  std::unique_ptr<AgmSpace<Kind>> space_;
  std::unique_ptr<AcceleratedGradient> method_;
  bool adaptive_;
  double mu_;              // 0: not smoothed
  bool annealed_ = false;  // whether mu falls
  double least_mu_ = 0.0;
  double passes_ahead_ = 0.0;       // taken before the first step
  double gap_at_start_ = infinity;  // of the smoothed problem, after the first step since the last restart
  std::size_t stage_steps_ = 0;
  Kept kept_;
  Estimate estimate_;  // of the present pair, or of the one that is kept, whichever is better
  bool stationary_ = false;
};

extern template class Agm<OneOutput>;
extern template class Agm<AllClasses>;

template <class Kind>
class AgmInfOf final : public Agm<Kind> {
 public:
  static constexpr std::string_view name = "agm-inf";
  static constexpr std::string_view summary =
      "accelerated gradient on all models of the risk, smoothed where it has corners";
  static constexpr auto takes = agm_options<Kind>;
  AgmInfOf(const typename Kind::Problem& problem, const typename Kind::Start& start, const Conduct& conduct)
      : Agm<Kind>(Agm<Kind>::Form::infinity, problem, start, conduct) {}
};

template <class Kind>
class Agm1Of final : public Agm<Kind> {
 public:
  static constexpr std::string_view name = "agm-1";
  static constexpr std::string_view summary =
      "accelerated gradient on the latest model of the risk, smoothed where it has corners";
  static constexpr auto takes = agm_options<Kind>;
  Agm1Of(const typename Kind::Problem& problem, const typename Kind::Start& start, const Conduct& conduct)
      : Agm<Kind>(Agm<Kind>::Form::one, problem, start, conduct) {}
};

using AgmInf = AgmInfOf<OneOutput>;
using Agm1 = Agm1Of<OneOutput>;
using MulticlassAgmInf = AgmInfOf<AllClasses>;
using MulticlassAgm1 = Agm1Of<AllClasses>;

}  // namespace fenchel::solver
