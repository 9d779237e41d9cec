// Rows whose supports have no class in common can be visited at the same time: neither reads a weight that the other one changes, so
// that both orders, and both at once, give the same bits. Classes are put into six groups, and rows with classes of three groups at most
// are visited in ten rounds, one for each way to part the groups into two sides of three; the other rows follow alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fenchel/kernel/class_supports.hpp"

namespace fenchel::solver {

// Lists of places in the supports.
struct ClassRounds {
  using Places = std::vector<std::uint32_t>;
  std::array<std::array<Places, 2>, 10> rounds;  // two sides, without a class in common
  Places rest;
};

// Arranges the supports in the order of the rounds, so that what one side writes lies apart from what the other one does.
ClassRounds class_rounds(kernel::ClassSupports& supports, std::size_t classes);

}  // namespace fenchel::solver
