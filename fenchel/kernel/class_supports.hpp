// The dual variables above 0 of rows that are visited again and again, side by side: a row of many classes has few of them, and going
// through all to find these takes longer than the step does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fenchel::kernel {

struct ClassSupports {
  std::vector<std::size_t> first;      // of row i: entries [first_i, first_i+1)
  std::vector<std::uint32_t> classes;  // without the row's own one
  std::vector<double> beta;

  [[nodiscard]] bool any(std::size_t i) const {
    return std::any_of(beta.data() + first[i], beta.data() + first[i + 1], [](double b) { return b > 0.0; });
  }

  // Of the rows i for which wanted(i); the others have none here. `all` is rows x classes.
  template <class Wanted>
  void gather(std::span<const double> all, std::span<const std::uint32_t> targets, std::size_t class_count,
              Wanted&& wanted) {
    const auto for_each = [&](std::size_t i, auto&& visit) {
      for (std::size_t l = 0; l < class_count; ++l) {
        const double b = all[i * class_count + l];
        if (b > 0.0 && l != targets[i]) visit(l, b);
      }
    };
    first.assign(targets.size() + 1, 0);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      first[i + 1] = first[i];
      if (wanted(i)) for_each(i, [&](std::size_t /*l*/, double /*b*/) { ++first[i + 1]; });
    }
    classes.resize(first.back());
    beta.resize(first.back());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::size_t e = first[i];
      if (e == first[i + 1]) continue;
      for_each(i, [&](std::size_t l, double b) {
        classes[e] = static_cast<std::uint32_t>(l);
        beta[e++] = b;
      });
    }
  }

  // Puts them back.
  void scatter(std::span<double> all, std::size_t class_count) const {
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
      for (std::size_t e = first[i]; e < first[i + 1]; ++e) all[i * class_count + classes[e]] = beta[e];
    }
  }
};

}  // namespace fenchel::kernel
