#include "fenchel/solver/compact_dual.hpp"

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

enum class DualCode : std::uint8_t { zero = 0, low_end = 1, high_end = 2, listed = 3 };
constexpr std::size_t rows_a_byte = 4;
// A row listed apart takes 16 bytes: beyond so large a share of them doubles are smaller.
constexpr std::size_t least_rows_a_listed_one = 4;

template <class L>
DualCode code_of(const L& loss, double y, double alpha) {
  if (alpha == 0.0) return DualCode::zero;
  const Interval domain = loss.dual_domain(y);
  return alpha == domain.low ? DualCode::low_end : alpha == domain.high ? DualCode::high_end : DualCode::listed;
}

}  // namespace

CompactDual::CompactDual(std::span<const double> alpha, std::span<const double> targets, const loss::Any& loss)
    : codes_((alpha.size() + rows_a_byte - 1) / rows_a_byte) {
  std::visit(
      [&](const auto& l) {
        for (std::size_t i = 0; i < alpha.size(); ++i) {
          const DualCode code = code_of(l, targets[i], alpha[i]);
          codes_[i / rows_a_byte] |=
              static_cast<std::uint8_t>(static_cast<unsigned>(code) << (2 * (i % rows_a_byte)));
          if (code != DualCode::listed) continue;
          others_.emplace_back(static_cast<std::uint32_t>(i), alpha[i]);
          if (others_.size() * least_rows_a_listed_one <= alpha.size()) continue;
          plain_.assign(alpha.begin(), alpha.end());
          codes_ = {};
          others_ = {};
          return;
        }
      },
      loss);
}

void CompactDual::add_to(double weight, std::span<const double> targets, const loss::Any& loss,
                         std::span<double> sum) const {
  std::visit(
      [&](const auto& l) {
        for_each_block(sum.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            if (!plain_.empty()) {
              sum[i] += weight * plain_[i];
              continue;
            }
            const auto code = static_cast<DualCode>((codes_[i / rows_a_byte] >> (2 * (i % rows_a_byte))) & 3);
            if (code == DualCode::low_end) sum[i] += weight * l.dual_domain(targets[i]).low;
            if (code == DualCode::high_end) sum[i] += weight * l.dual_domain(targets[i]).high;
          }
        });
      },
      loss);
  for (const auto& [i, alpha] : others_) sum[i] += weight * alpha;
}

std::size_t CompactDual::bytes() const {
  return codes_.size() + others_.size() * sizeof(others_.front()) + plain_.size() * sizeof(double);
}

}  // namespace fenchel::solver
