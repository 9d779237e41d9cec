#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/sum.hpp"
#include "fenchel/risk/pointwise.hpp"

namespace fenchel::risk {
namespace {

// Dual values of a row whose score is known up to `reach`: all of these are subgradients somewhere in its reach.
template <class L>
Interval duals_around(const L& loss, double y, double z, double reach) {
  return {loss::project_dual(loss, y, -loss.derivative(y, z + reach)),
          loss::project_dual(loss, y, -loss.derivative(y, z - reach))};
}

// Sums over c alpha at the low and at the high ends.
struct Ends {
  CompensatedSum low;
  CompensatedSum high;
  void add(const Ends& other) {
    low.add(other.low);
    high.add(other.high);
  }
};

struct Balance {
  CompensatedSum sum;  // of c alpha
  double magnitude = 0.0;
  void add(const Balance& other) {
    sum.add(other.sum);
    magnitude += other.magnitude;
  }
};

}  // namespace

// The best bias is a kink of some rows, which rounding leaves on either side of it. Rows whose kink is within a few
// roundings of their score may take any value of their range: all of them start at its low end, and in their order go to its
// high end until the sum is zero. So at most one row ends in between, as in the exact solution for the hinge.
void Pointwise::balance(const State& state) {
  constexpr double least_reach = 4 * unit_roundoff, most_reach = 1e-9;
  const auto before = block_sum<Balance>(alpha_.size(), [&](std::size_t i, Balance& local) {
    const double term = sample_.weight(i) * alpha_[i];
    local.sum.add(term);
    local.magnitude += std::fabs(term);
  });
  if (std::fabs(before.sum.total()) <= 4 * unit_roundoff * before.magnitude) return;
  std::visit(
      [&](const auto& loss) {
        for (double reach = least_reach; reach <= most_reach; reach *= 8) {
          const auto range = [&](std::size_t i) {
            const double y = sample_.targets[i];
            // The smallest number is for rows that sit at a kink exactly, at 0.
            const double about = reach * (std::fabs(state.z[i]) + std::fabs(state.b) + std::fabs(y)) +
                                 std::numeric_limits<double>::min();
            return duals_around(loss, y, state.z[i] + state.b, about);
          };
          const auto ends = block_sum<Ends>(alpha_.size(), [&](std::size_t i, Ends& local) {
            const double c = sample_.weight(i);
            if (c == 0.0) return;
            const Interval duals = range(i);
            local.low.add(c * duals.low);
            local.high.add(c * duals.high);
          });
          if (ends.low.total() > 0.0 || ends.high.total() < 0.0) continue;
          CompensatedSum needed;
          needed.subtract(ends.low);
          for (std::size_t i = 0; i < alpha_.size(); ++i) {
            const double c = sample_.weight(i);
            if (c == 0.0) continue;
            const Interval duals = range(i);
            const double rest = needed.total();
            alpha_[i] = duals.low;
            if (rest <= 0.0 || !(duals.low < duals.high)) continue;
            alpha_[i] = rest >= c * (duals.high - duals.low) ? duals.high : duals.low + rest / c;
            needed.add(-c * (alpha_[i] - duals.low));
          }
          return;
        }
      },
      loss_);
  // No bias is best: the infimum is at infinity, where the sum vanishes. The certificate repairs what is left of it.
}

double Pointwise::subgradient(const State& state, std::span<double> slope) {
  std::visit(
      [&](const auto& l) {
        for_each_block(state.z.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) set_dual(l, i, state.z[i] + state.b);
        });
      },
      loss_);
  if (free_bias_) {
    balance(state);
    for_each_block(alpha_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) scaled_[i] = -sample_.weight(i) / sample_.weight_sum * alpha_[i];
    });
  }
  map_.adjoint(scaled_, slope);
  return offset();
}

double Pointwise::offset() const {
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(alpha_.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          if (c != 0.0) s.add(-c * l.conjugate(sample_.targets[i], alpha_[i]));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
}

}  // namespace fenchel::risk
