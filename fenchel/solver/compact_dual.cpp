#include "fenchel/solver/compact_dual.hpp"

#include <bit>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

enum class DualCode : std::uint8_t { zero = 0, low_end = 1, high_end = 2, listed = 3 };
constexpr std::size_t dual_codes = 4;
// A row listed apart takes 16 bytes: beyond so large a share of them doubles are smaller.
constexpr std::size_t least_rows_a_listed_one = 4;
constexpr std::size_t bits_in_word = 64;

template <class L>
DualCode code_of(const L& loss, double y, double alpha) {
  if (alpha == 0.0) return DualCode::zero;
  const Interval domain = loss.dual_domain(y);
  return alpha == domain.low ? DualCode::low_end : alpha == domain.high ? DualCode::high_end : DualCode::listed;
}

std::size_t vertex_code_of(std::span<const double> beta) {
  std::size_t code = 0;
  for (std::size_t l = 0; l < beta.size(); ++l) {
    if (beta[l] == 0.0) continue;
    if (beta[l] != 1.0 || code != 0) return beta.size() + 1;
    code = l + 1;
  }
  return code;
}

}  // namespace

PackedCodes::PackedCodes(std::size_t count, std::size_t codes)
    : bits_(static_cast<std::size_t>(std::bit_width(codes - 1))),
      in_word_(bits_in_word / bits_),
      words_((count + in_word_ - 1) / in_word_) {}

CompactDual::CompactDual(std::span<const double> alpha, const problem::Problem& problem)
    : codes_(alpha.size(), dual_codes) {
  std::visit(
      [&](const auto& l) {
        for (std::size_t i = 0; i < alpha.size(); ++i) {
          const DualCode code = code_of(l, problem.sample.targets[i], alpha[i]);
          codes_.set(i, static_cast<std::size_t>(code));
          if (code != DualCode::listed) continue;
          others_.emplace_back(i, alpha[i]);
          if (others_.size() * least_rows_a_listed_one <= alpha.size()) continue;
          plain_.assign(alpha.begin(), alpha.end());
          codes_.clear();
          others_ = {};
          return;
        }
      },
      problem.loss);
}

void CompactDual::add_to(double weight, const problem::Problem& problem, std::span<double> sum) const {
  const std::span<const double> targets = problem.sample.targets;
  std::visit(
      [&](const auto& l) {
        for_each_block(sum.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            if (!plain_.empty()) {
              sum[i] += weight * plain_[i];
              continue;
            }
            const auto code = static_cast<DualCode>(codes_[i]);
            if (code == DualCode::low_end) sum[i] += weight * l.dual_domain(targets[i]).low;
            if (code == DualCode::high_end) sum[i] += weight * l.dual_domain(targets[i]).high;
          }
        });
      },
      problem.loss);
  for (const auto& [i, alpha] : others_) sum[i] += weight * alpha;
}

std::size_t CompactDual::bytes() const {
  return codes_.bytes() + others_.size() * sizeof(others_.front()) + plain_.size() * sizeof(double);
}

CompactClassDual::CompactClassDual(std::span<const double> beta, const problem::MulticlassProblem& problem)
    : codes_(beta.size() / problem.classes(), problem.classes() + 2) {
  const std::size_t k = problem.classes();
  for (std::size_t i = 0; i * k < beta.size(); ++i) {
    const std::span<const double> row = beta.subspan(i * k, k);
    const std::size_t code = vertex_code_of(row);
    codes_.set(i, code);
    if (code <= k) continue;
    listed_.push_back(i);
    others_.insert(others_.end(), row.begin(), row.end());
  }
}

void CompactClassDual::add_to(double weight, const problem::MulticlassProblem& problem,
                              std::span<double> sum) const {
  const std::size_t k = problem.classes();
  for_each_block(sum.size() / k, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t code = codes_[i];
      if (code != 0 && code <= k) sum[i * k + code - 1] += weight;
    }
  });
  for_each_block(listed_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      for (std::size_t l = 0; l < k; ++l) sum[listed_[e] * k + l] += weight * others_[e * k + l];
    }
  });
}

std::size_t CompactClassDual::bytes() const {
  return codes_.bytes() + listed_.size() * sizeof(listed_.front()) + others_.size() * sizeof(others_.front());
}

}  // namespace fenchel::solver
