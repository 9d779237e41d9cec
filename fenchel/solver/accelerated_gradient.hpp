// The accelerated gradient methods AGM-EF of Zhang, Saha and Vishwanathan, "Regularized Risk Minimization by Nesterov's
// Accelerated Gradient Methods": minimise J(x) = f(x) + Psi(x), f smooth and lambda1-strongly convex, Psi simple and
// lambda2-strongly convex, both relative to a prox-function d with Bregman divergence Delta(x, c) = d(x) - d(c) - <d'(c), x - c>.
//     AgmInfinity (Algorithms 1 and 2) keeps the average of all linear models of f and stays anchored at the start x0,
//     AgmOne (Algorithms 3 and 4) sums up what it knows in one quadratic about the last z.
// Both keep points x (whose value is bounded) and z (the minimiser of what is known), ask for the gradient at u between them, and
// keep an upper bound: J(x_k) <= psi_k(z_k), or q_k. With the largest curvature L of f unknown, that invariant is the test of a
// trial L, which may fall again.
//
// Departures: the sequence A_k of the paper, which overflows, is replaced by r_k = 1/A_k and averages; L stays above lambda1 and
// above a floor; the first q of Algorithm 3 is collapsed to its minimum and curvature, as all later ones are.
//
// Both also keep the average of the linear models, f(x) >= offset + <slope, x>, and tell f which weights make it, so that f can average the
// dual points behind its gradients with the same weights.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fenchel::solver {

// x, its image under the linear map inside f (margins, usually), and whatever f found out about it.
struct AgmPoint {
  std::vector<double> x;
  std::vector<double> image;
  std::vector<double> hint{};
};

class SmoothPart {
 public:
  SmoothPart() = default;
  SmoothPart(const SmoothPart&) = delete;
  SmoothPart& operator=(const SmoothPart&) = delete;
  virtual ~SmoothPart() = default;

  [[nodiscard]] virtual double convexity() const { return 0.0; }  // lambda1
  // Computes the image of x; one pass over the data.
  virtual void locate(AgmPoint& point) = 0;
  // f at a point whose image is in place; no pass.
  virtual double value(AgmPoint& point) = 0;
  // Likewise, and its gradient; one pass.
  virtual double gradient(AgmPoint& point, std::span<double> gradient) = 0;
  // The dual point of the last gradient enters the average with weight theta, what was there before with 1 - theta.
  virtual void average(double theta) = 0;
};

class SimplePart {
 public:
  SimplePart() = default;
  SimplePart(const SimplePart&) = delete;
  SimplePart& operator=(const SimplePart&) = delete;
  virtual ~SimplePart() = default;

  [[nodiscard]] virtual double convexity() const = 0;                       // lambda2
  [[nodiscard]] virtual double value(std::span<const double> x) const = 0;  // Psi(x)
  // d'(x), up to what is constant over the domain of Psi.
  virtual void mirror(std::span<const double> x, std::span<double> result) const = 0;
  [[nodiscard]] virtual double divergence(std::span<const double> x, std::span<const double> centre) const = 0;
  // x = argmin of weight d(x) + Psi(x) - <pull, x>
  virtual void minimize(std::span<const double> pull, double weight, std::span<double> x) = 0;
};

// How the curvature of f is found: from a bound that holds, or by trials.
struct CurvatureSearch {
  double L = 1.0;  // the bound, or the first trial
  bool adaptive = true;
};

class AcceleratedGradient {
 public:
  virtual ~AcceleratedGradient() = default;
  AcceleratedGradient(const AcceleratedGradient&) = delete;
  AcceleratedGradient& operator=(const AcceleratedGradient&) = delete;

  // Starts afresh from `start`, whose image has to be in place.
  void restart(AgmPoint start, double L);
  // One iteration; returns the passes over the data its trials took.
  double advance();

  [[nodiscard]] AgmPoint& x() { return at.x; }
  [[nodiscard]] double smooth_value() const { return smooth_value_; }  // f(x)
  [[nodiscard]] double value() const { return value_; }                // J(x)
  [[nodiscard]] double bound() const { return bound_; }                // >= J(x)
  [[nodiscard]] double resolution() const { return resolution_; }      // of a comparison of these two
  [[nodiscard]] std::span<const double> slope() const { return at.slope; }
  [[nodiscard]] double offset() const { return offset_; }
  // Where the last gradient was taken, and what it was.
  [[nodiscard]] std::span<const double> u() const { return at.u.x; }
  [[nodiscard]] std::span<const double> gradient() const { return at.gradient; }
  [[nodiscard]] double curvature() const { return search_.L; }
  [[nodiscard]] std::size_t steps() const { return steps_; }  // since the start
  [[nodiscard]] bool stationary() const { return stationary_; }
  [[nodiscard]] bool strongly_convex() const { return lambda > 0.0; }
  // G such that J(x_k) - D(alpha_k) <= G Delta(w(alpha_k), x_0), alpha_k the averaged dual point.
  [[nodiscard]] virtual double gap_factor() const = 0;

 protected:
  AcceleratedGradient(SmoothPart& smooth, SimplePart& simple, CurvatureSearch search);

  // The weight of the newest model and gradient, and the share of z in u.
  struct Weights {
    double theta = 1.0;
    double share = 0.0;
  };
  // What a trial knows when it asks for z, and after.
  struct Trial {
    Weights weights;
    double value_at_u = 0.0;
    double offset = 0.0;
  };
  [[nodiscard]] virtual Weights weigh(double L) = 0;
  // Sets at.pull and returns the weight of d for the minimisation that gives z.
  virtual double hold(const Trial& trial) = 0;
  // The upper bound on J at the new x.
  [[nodiscard]] virtual double bound_after(const Trial& trial) = 0;
  virtual void accept(const Trial& trial) = 0;

  // What a trial works on.
  struct Work {
    AgmPoint x, z, u, new_x, new_z;
    std::vector<double> gradient, slope, new_slope, pull, mirrored;
  };

  SmoothPart& f;
  SimplePart& psi;
  double lambda1, lambda2, lambda;
  bool first = true;
  Work at;

 private:
  [[nodiscard]] double first_trial() const;

  CurvatureSearch search_;
  double floor_ = 0.0;
  bool may_fall_ = false;  // never lower L on the word of rounding errors
  double offset_ = 0.0;
  double smooth_value_ = 0.0, value_ = 0.0, bound_ = 0.0, resolution_ = 0.0;
  std::size_t steps_ = 0;
  bool stationary_ = false;
};

class AgmInfinity final : public AcceleratedGradient {
 public:
  AgmInfinity(SmoothPart& smooth, SimplePart& simple, CurvatureSearch search)
      : AcceleratedGradient(smooth, simple, search) {}
  [[nodiscard]] double gap_factor() const override { return r_; }

 private:
  [[nodiscard]] Weights weigh(double L) override;
  double hold(const Trial& trial) override;
  [[nodiscard]] double bound_after(const Trial& trial) override;
  void accept(const Trial& trial) override;

  double r_ = 0.0, new_r_ = 0.0;         // 1 / A_k
  std::vector<double> anchor_;           // x0
  std::vector<double> mirrored_anchor_;  // d'(x0)
  // Of the terms sum theta_i Delta(x, u_i) = Delta(x, x0) + <d'(x0) - pull, x - x0> + constant.
  std::vector<double> model_pull_, new_model_pull_;
  double model_constant_ = 0.0, new_model_constant_ = 0.0;
};

class AgmOne final : public AcceleratedGradient {
 public:
  AgmOne(SmoothPart& smooth, SimplePart& simple, CurvatureSearch search)
      : AcceleratedGradient(smooth, simple, search) {}
  [[nodiscard]] double gap_factor() const override { return first_curvature_ * remaining_; }

 private:
  [[nodiscard]] Weights weigh(double L) override;
  double hold(const Trial& trial) override;
  [[nodiscard]] double bound_after(const Trial& trial) override;
  void accept(const Trial& trial) override;

  double c_ = 0.0, new_c_ = 0.0;  // the curvature of q
  double q_ = 0.0, new_q_ = 0.0;  // its minimum
  double trial_L_ = 0.0;
  double first_curvature_ = 0.0;  // L_0
  double remaining_ = 1.0;        // the product of all 1 - a_i
};

}  // namespace fenchel::solver
