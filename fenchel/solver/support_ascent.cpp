#include "fenchel/solver/support_ascent.hpp"

#include <algorithm>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/kernel/class_rows.hpp"

namespace fenchel::solver {
namespace {

// Fewer steps gain less than the sweeps that take as long, more are about as many as there are free variables in small problems.
constexpr double least_steps = 10.0, most_steps_at_once = 200.0;
// Of the square of the gradient; sweeps over everything will find other rows to move before less is of use.
constexpr double reduction = 1e-2;
// Gradients that are as small as rounding, of margins of about 1.
constexpr double least_gradient = 1e-13;
// Where more than one row in so many gets to an end at once, sweeps are to find the supports first.
constexpr std::size_t rows_per_end = 10;
// Less of p_y is rounding.
constexpr double least_rest = 1e-12;
// A step goes through the weights twice, in order, which takes as long as a fourth of so many entries of rows.
constexpr double work_a_weight = 0.25;

}  // namespace

double SupportAscent::climb(const Setting& setting, std::span<double> beta, std::span<double> weights,
                            double most_work) {
  gather(setting, beta);
  return std::visit(
      [&](const auto& rows) {
        double work = work_a_weight * static_cast<double>(weights.size());
        for (const Free& free : free_) {
          work += static_cast<double>(rows.row(free.row).values.size() * (free.last - free.first));
        }
        const double steps = std::min(most_work / work, most_steps_at_once);
        if (free_.empty() || steps < least_steps) {
          rows_.clear();
          return 0.0;
        }
        const double taken = climb_rows(rows, setting, weights, steps);
        scatter(setting, beta);
        return taken * work;
      },
      setting.problem.design.matrix);
}

void SupportAscent::gather(const Setting& setting, std::span<const double> beta) {
  const std::size_t k = setting.problem.classes();
  rows_.clear();
  free_.clear();
  classes_.clear();
  p_.clear();
  for (std::size_t i = 0; i < setting.shares.size(); ++i) {
    if (!(setting.shares[i] > 0.0 && setting.curvatures[i] > 0.0)) continue;
    const std::size_t first = p_.size(), y = setting.problem.sample.targets[i];
    double rest = 1.0;
    for (std::size_t l = 0; l < k; ++l) {
      const double b = beta[i * k + l];
      if (!(b > 0.0) || l == y) continue;
      classes_.push_back(static_cast<std::uint32_t>(l));
      p_.push_back(b);
      rest -= b;
    }
    if (p_.size() > first && rest > least_rest) {
      classes_.push_back(static_cast<std::uint32_t>(y));
      p_.push_back(rest);
    }
    if (p_.size() < first + 2) {  // a vertex
      classes_.resize(first);
      p_.resize(first);
      continue;
    }
    rows_.push_back(static_cast<std::uint32_t>(i));
    free_.push_back({.row = rows_.back(), .first = first, .last = p_.size()});
  }
  gathered_ = free_;
}

void SupportAscent::scatter(const Setting& setting, std::span<double> beta) const {
  for (const Free& free : gathered_) {
    const std::size_t row = std::size_t{free.row} * setting.problem.classes();
    for (std::size_t e = free.first; e < free.last; ++e) {
      if (classes_[e] != setting.problem.sample.targets[free.row]) beta[row + classes_[e]] = p_[e];
    }
  }
}

// Returns how many steps it took, scores without those left out being half of one.
template <class Rows>
double SupportAscent::climb_rows(const Rows& rows, const Setting& setting, std::span<double> weights,
                                 double most_steps) {
  begin(rows, setting, weights);
  const double enough = std::max(reduction * square_, square_of_rounding(setting));
  double kept = 0.0;
  steps_ = 0.0;
  while (steps_ < most_steps && square_ > enough) {
    turn(rows, setting, kept);
    const double step = step_along(rows, setting);
    steps_ += 1.0;
    if (!(step > 0.0)) break;
    kept = advance(setting, step);
    for_each_block(weights.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) {
        weights[e] += step * move_[e];
        move_[e] *= kept;
      }
    });
  }
  return steps_;
}

template <class Rows>
void SupportAscent::begin(const Rows& rows, const Setting& setting, std::span<const double> weights) {
  gradient_.resize(p_.size());
  scores_.resize(p_.size());
  towards_.resize(p_.size());
  direction_.assign(p_.size(), 0.0);
  move_.assign(weights.size(), 0.0);
  score(rows, setting, weights, gradient_);
  square_ = 0.0;
  for (const Free& free : free_) {
    const std::size_t y = setting.problem.sample.targets[free.row];
    double sum = 0.0;
    for (std::size_t e = free.first; e < free.last; ++e) {
      gradient_[e] += classes_[e] == y ? 0.0 : 1.0;
      sum += gradient_[e];
    }
    const double mean = sum / static_cast<double>(free.last - free.first);
    const double weight = setting.shares[free.row] / setting.curvatures[free.row];
    for (std::size_t e = free.first; e < free.last; ++e) {
      gradient_[e] -= mean;
      square_ += weight * gradient_[e] * gradient_[e];
    }
  }
}

double SupportAscent::square_of_rounding(const Setting& setting) const {
  double square = 0.0;
  for (const Free& free : free_) {
    const double weight = setting.shares[free.row] / setting.curvatures[free.row];
    square += weight * least_gradient * least_gradient * static_cast<double>(free.last - free.first);
  }
  return square;
}

template <class Rows>
void SupportAscent::turn(const Rows& rows, const Setting& setting, double kept) {
  for (const Free& free : free_) {
    for (std::size_t e = free.first; e < free.last; ++e) {
      towards_[e] = gradient_[e] / setting.curvatures[free.row];
      direction_[e] = towards_[e] + kept * direction_[e];
    }
    add_to_move(rows, setting, free, towards_, 1.0);
  }
}

template <class Rows>
double SupportAscent::step_along(const Rows& rows, const Setting& setting) {
  score(rows, setting, move_, scores_);
  if (!leave_out(rows, setting, best_step(setting))) return 0.0;
  double step = best_step(setting);
  for (const Free& free : free_) step = std::min(step, reach(free));
  return step;
}

template <class Rows>
bool SupportAscent::leave_out(const Rows& rows, const Setting& setting, double step) {
  const auto left_out =
      std::stable_partition(free_.begin(), free_.end(), [&](const Free& free) { return reach(free) > step; });
  if (left_out == free_.end()) return true;
  if (rows_per_end * static_cast<std::size_t>(free_.end() - left_out) > free_.size()) return false;
  for (const Free& free : std::span(left_out, free_.end())) add_to_move(rows, setting, free, direction_, -1.0);
  free_.erase(left_out, free_.end());
  steps_ += 0.5;
  score(rows, setting, move_, scores_);
  return true;
}

double SupportAscent::best_step(const Setting& setting) const {
  double slope = 0.0, curvature = 0.0;
  for (const Free& free : free_) {
    double along = 0.0, across = 0.0;
    for (std::size_t e = free.first; e < free.last; ++e) {
      along += gradient_[e] * direction_[e];
      across -= scores_[e] * direction_[e];
    }
    slope += setting.shares[free.row] * along;
    curvature += setting.shares[free.row] * across;
  }
  return curvature > 0.0 ? std::max(0.0, slope / curvature) : 0.0;
}

double SupportAscent::reach(const Free& free) const {
  double result = infinity;
  for (std::size_t e = free.first; e < free.last; ++e) {
    if (direction_[e] < 0.0) result = std::min(result, p_[e] / -direction_[e]);
  }
  return result;
}

double SupportAscent::advance(const Setting& setting, double step) {
  double square = 0.0, change = 0.0;
  for (const Free& free : free_) {
    double sum = 0.0;
    for (std::size_t e = free.first; e < free.last; ++e) sum += scores_[e];
    const double mean = sum / static_cast<double>(free.last - free.first);
    const double weight = setting.shares[free.row] / setting.curvatures[free.row];
    for (std::size_t e = free.first; e < free.last; ++e) {
      p_[e] = std::max(0.0, p_[e] + step * direction_[e]);
      const double by = step * (scores_[e] - mean);
      gradient_[e] += by;
      square += weight * gradient_[e] * gradient_[e];
      change += weight * gradient_[e] * by;
    }
  }
  const double before = std::exchange(square_, square);
  return before > 0.0 ? std::max(0.0, change / before) : 0.0;
}

template <class Rows>
void SupportAscent::score(const Rows& rows, const Setting& setting, std::span<const double> weights,
                          std::span<double> scores) const {
  const double constant = setting.problem.design.constant;
  const double* const last = weights.data() + rows.cols() * setting.stride;  // the constant column's
  for_each_block(free_.size(), [&](std::size_t begin, std::size_t end) {
    for (const Free& free : std::span(free_).subspan(begin, end - begin)) {
      const auto classes = std::span(classes_).subspan(free.first, free.last - free.first);
      double* const to = scores.data() + free.first;
      kernel::listed_scores(rows.row(free.row), classes, weights.data(), setting.stride, to);
      for (std::size_t l = 0; constant != 0.0 && l < classes.size(); ++l) to[l] += constant * last[classes[l]];
    }
  });
}

template <class Rows>
void SupportAscent::add_to_move(const Rows& rows, const Setting& setting, const Free& free,
                                std::span<const double> by, double times) {
  const auto classes = std::span(classes_).subspan(free.first, free.last - free.first);
  const double scale = -times * setting.shares[free.row] * setting.inverse_l2;
  const double constant = setting.problem.design.constant;
  double* const last = move_.data() + rows.cols() * setting.stride;
  change_.resize(classes.size());
  for (std::size_t l = 0; l < classes.size(); ++l) {
    change_[l] = scale * by[free.first + l];
    if (constant != 0.0) last[classes[l]] += constant * change_[l];
  }
  kernel::add_listed(rows.row(free.row), classes, change_.data(), setting.stride, move_.data());
}

}  // namespace fenchel::solver
