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
    first.assign(1, 0);
    classes.clear();
    beta.clear();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::span<const double> row = all.subspan(i * class_count, class_count);
      for (std::size_t l = 0; wanted(i) && l < class_count; ++l) {
        if (!(row[l] > 0.0) || l == targets[i]) continue;
        classes.push_back(static_cast<std::uint32_t>(l));
        beta.push_back(row[l]);
      }
      first.push_back(beta.size());
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
