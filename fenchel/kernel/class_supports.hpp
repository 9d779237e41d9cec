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
  struct Range {
    std::size_t first = 0, last = 0;
  };
  std::vector<std::uint32_t> rows;     // that are gathered
  std::span<Range> of_row;             // a place for every row; only of these
  std::vector<std::uint32_t> classes;  // without the row's own one
  std::vector<double> beta;

  [[nodiscard]] bool any(std::size_t i) const {
    return std::any_of(beta.data() + of_row[i].first, beta.data() + of_row[i].last,
                       [](double b) { return b > 0.0; });
  }

  // Of `rows`. `all` is rows x classes.
  void gather(std::span<const double> all, std::span<const std::uint32_t> targets, std::size_t class_count) {
    classes.clear();
    beta.clear();
    for (const std::uint32_t i : rows) {
      of_row[i].first = beta.size();
      for (std::size_t l = 0; l < class_count; ++l) {
        const double b = all[i * class_count + l];
        if (!(b > 0.0) || l == targets[i]) continue;
        classes.push_back(static_cast<std::uint32_t>(l));
        beta.push_back(b);
      }
      of_row[i].last = beta.size();
    }
  }

  // Puts them back.
  void scatter(std::span<double> all, std::size_t class_count) const {
    for (const std::uint32_t i : rows) {
      for (std::size_t e = of_row[i].first; e < of_row[i].last; ++e) all[i * class_count + classes[e]] = beta[e];
    }
  }
};

}  // namespace fenchel::kernel
