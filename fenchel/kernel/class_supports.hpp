// The dual variables above 0 of rows that are visited again and again, with all else that a visit needs of a row besides its entries,
// side by side: a row of many classes has few of them, and fetching these from all over memory takes longer than the step does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/kernel/multiclass_state.hpp"

namespace fenchel::kernel {

struct ClassSupports {
  struct Entry {
    double beta = 0.0;
    std::uint32_t label = 0;  // not the row's own class
  };
  struct Row {
    std::uint32_t row = 0;
    std::uint32_t target = 0;
    std::size_t first = 0, last = 0;  // of its entries
    double share = 0.0;
    double curvature = 0.0;
  };
  std::vector<Row> rows;
  std::vector<Entry> entries;

  [[nodiscard]] std::span<Entry> entries_of(const Row& row) {
    return std::span(entries).subspan(row.first, row.last - row.first);
  }
  [[nodiscard]] std::span<const Entry> entries_of(const Row& row) const {
    return std::span(entries).subspan(row.first, row.last - row.first);
  }

  // Those of the rows of a list.
  void gather(const MulticlassSweepState& state, std::span<const std::uint32_t> list) {
    rows.clear();
    entries.clear();
    for (std::size_t n = 0; n < list.size(); ++n) {
      if (n + rows_ahead < list.size()) state.prefetch(list[n + rows_ahead]);
      const std::uint32_t i = list[n], target = state.targets[i];
      const std::size_t first = entries.size();
      const std::span<const double> beta = state.dual_of(i);
      for (std::uint32_t l = 0; l < beta.size(); ++l) {
        if (beta[l] > 0.0 && l != target) entries.push_back({.beta = beta[l], .label = l});
      }
      rows.push_back({.row = i,
                      .target = target,
                      .first = first,
                      .last = entries.size(),
                      .share = state.shares[i],
                      .curvature = state.curvatures[i]});
    }
  }

  // Puts the rows that stand at these places in this order.
  void arrange(std::span<const std::uint32_t> places) {
    ClassSupports arranged;
    arranged.rows.reserve(places.size());
    arranged.entries.reserve(entries.size());
    for (const std::uint32_t place : places) {
      Row& row = arranged.rows.emplace_back(rows[place]);
      const std::span<const Entry> from = entries_of(rows[place]);
      row.first = arranged.entries.size();
      arranged.entries.insert(arranged.entries.end(), from.begin(), from.end());
      row.last = arranged.entries.size();
    }
    *this = std::move(arranged);
  }

  // Puts them back.
  void scatter(const MulticlassSweepState& state) const {
    for (const Row& row : rows) {
      const std::span<double> beta = state.dual_of(row.row);
      for (const Entry& entry : entries_of(row)) beta[entry.label] = entry.beta;
    }
  }
};

}  // namespace fenchel::kernel
