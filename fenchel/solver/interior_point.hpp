// An interior point method (Mehrotra's predictor and corrector) for losses of straight pieces with an l1 penalty or none,
// which are linear programs. With beta_i = c_i alpha_i / sum c and u = X' beta, the dual is
//     max sum_s t_s beta_s,   low_s <= beta_s <= high_s,   |u_j| <= l1_j,
// where a row has one piece s, or two where its conjugate has a kink at 0. With slacks p, m of the boxes and w = a - b,
//     t_s - z_i = p_s - m_s,   p_s (high_s - beta_s) = m_s (beta_s - low_s) = mu,   a_j (l1_j - u_j) = b_j (l1_j + u_j) = mu,
// are followed to mu = 0. A free bias is a column of ones without a penalty; columns without one have u_j = 0.
// Every step solves one system of min(rows, columns) unknowns twice: no method for data where both are large, but one
// that does not mind how badly they are scaled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/base/dense.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/solver/row_sums.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class InteriorPoint final : public Solver {
 public:
  static constexpr std::string_view name = "interior-point";
  static constexpr std::string_view summary =
      "primal-dual interior point method for linear programs with few rows or few columns";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);
  // Whether its systems are small enough to be worth it.
  static bool pays(const problem::Problem& problem);

  // Starts from its own centre, whatever `start` says; draws nothing at random.
  InteriorPoint(const problem::Problem& problem, const Start& start, Conduct conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  // A pair of non-negative numbers whose product is to become mu: the slack of an inequality and its multiplier.
  struct Pair {
    double slack = 1.0;
    double multiplier = 1.0;
    double target = 0.0;  // of the product
    double slack_step = 0.0;
    double multiplier_step = 0.0;

    [[nodiscard]] double product() const { return slack * multiplier; }
    // What the multiplier moves by if the slack does not.
    [[nodiscard]] double pull() const { return target / slack - multiplier; }
    [[nodiscard]] double ratio() const { return multiplier / slack; }
    void move_slack(double step) {
      slack_step = step;
      multiplier_step = pull() - ratio() * step;
    }
  };
  struct Piece {
    std::uint32_t row;
    double t;
    double least;  // the ends of beta's box
    double most;
    Pair low{};   // of beta - low
    Pair high{};  // of high - beta
    // The step of beta is (pull - step of z) / hold.
    [[nodiscard]] double hold() const { return low.ratio() + high.ratio(); }
    [[nodiscard]] double pull(double z) const { return t - z - high.target / high.slack + low.target / low.slack; }
  };
  struct Column {
    double l1 = 0.0;
    Pair below;  // of l1 - u
    Pair above;  // of l1 + u
    [[nodiscard]] double hold() const { return free() ? 0.0 : below.ratio() + above.ratio(); }
    [[nodiscard]] bool free() const { return l1 == 0.0; }
  };
  struct Lengths {
    double primal = 1.0;
    double dual = 1.0;
  };

  struct Direction {
    std::vector<Piece> pieces;
    std::vector<Column> columns;
    std::vector<double> w, z, beta, u;
  };

  void add_pieces();
  void start_centrally();
  void gather_free_columns();
  template <class Visit>
  void for_each_pair(Visit&& visit);
  double form_matrix();  // returns the passes it took
  double factorize();    // returns the passes it took
  // These three find all steps for the targets of the pairs, and return the passes it took.
  double solve();
  double solve_for_columns();
  double solve_for_rows();
  bool correct(double centre, double& passes);
  void move_pieces();
  [[nodiscard]] Lengths longest();
  void move(Lengths lengths);
  void assess();
  [[nodiscard]] double primal(std::span<const double> w, std::span<const double> z) const;
  void choose_weights();  // that are offered
  [[nodiscard]] double mean_product(Lengths lengths);

  problem::Problem problem_;
  data::Design design_;
  data::LinearMap map_;
  RowSums sums_;
  RowSums::Cut all_;
  bool by_columns_;  // which of the two systems is solved
  std::vector<Piece> pieces_;
  std::vector<Column> columns_;
  std::vector<std::size_t> free_;  // columns without a penalty
  std::vector<double> w_, z_, beta_, u_;
  std::vector<double> w_step_, z_step_, beta_step_, u_step_;
  std::vector<double> row_hold_, row_pull_;        // beta_step = row_pull - row_hold z_step
  std::vector<double> column_hold_, column_pull_;  // w_step = column_pull + column_hold u_step, where penalised
  std::vector<double> free_hold_;                  // of the columns without a penalty in the system of the rows
  std::vector<double> offered_w_, offered_alpha_;
  dense::Matrix matrix_, free_columns_, free_solutions_;
  dense::Cholesky factor_;
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
