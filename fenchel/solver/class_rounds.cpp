#include "fenchel/solver/class_rounds.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fenchel::solver {
namespace {

using Groups = unsigned;  // a bit each

constexpr std::size_t group_count = 6;
constexpr Groups everything = (1U << group_count) - 1;

// The sides with the first group: three of the six.
constexpr std::array<Groups, 10> first_sides{0b000111, 0b001011, 0b010011, 0b100011, 0b001101,
                                             0b010101, 0b100101, 0b011001, 0b101001, 0b110001};

// Every class's group. The busiest class that is left goes to the group with the least to do.
std::vector<Groups> groups_of(const kernel::ClassSupports& supports, std::size_t classes) {
  std::vector<std::size_t> visits(classes, 0);
  for (const kernel::ClassSupports::Row& row : supports.rows) {
    ++visits[row.target];
    for (const kernel::ClassSupports::Entry& entry : supports.entries_of(row)) ++visits[entry.label];
  }
  std::vector<std::uint32_t> order(classes);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t label) { return visits[label]; });
  std::array<std::size_t, group_count> load{};
  std::vector<Groups> groups(classes);
  for (const std::uint32_t label : order) {
    const auto least = std::ranges::min_element(load);
    *least += visits[label];
    groups[label] = 1U << static_cast<unsigned>(least - load.begin());
  }
  return groups;
}

// Where a row may be visited.
struct Seat {
  std::size_t round, side;
};

// The seats of rows that touch these groups, for every set of them.
std::array<std::vector<Seat>, everything + 1> seats_by_groups() {
  std::array<std::vector<Seat>, everything + 1> seats;
  for (Groups touched = 1; touched <= everything; ++touched) {
    for (std::size_t round = 0; round < first_sides.size(); ++round) {
      if ((touched & ~first_sides[round]) == 0) seats[touched].push_back({.round = round, .side = 0});
      if ((touched & first_sides[round]) == 0) seats[touched].push_back({.round = round, .side = 1});
    }
  }
  return seats;
}

}  // namespace

ClassRounds class_rounds(kernel::ClassSupports& supports, std::size_t classes) {
  const std::vector<Groups> groups = groups_of(supports, classes);
  const auto seats = seats_by_groups();
  ClassRounds result;
  for (std::uint32_t place = 0; place < supports.rows.size(); ++place) {
    const kernel::ClassSupports::Row& row = supports.rows[place];
    Groups touched = groups[row.target];
    for (const kernel::ClassSupports::Entry& entry : supports.entries_of(row)) touched |= groups[entry.label];
    // Where its side is shortest against the one that it is visited with.
    const auto lead = [&](const Seat& seat) {
      const auto& sides = result.rounds[seat.round];
      return static_cast<std::ptrdiff_t>(sides[seat.side].size()) -
             static_cast<std::ptrdiff_t>(sides[1 - seat.side].size());
    };
    const auto best = std::ranges::min_element(seats[touched], {}, lead);
    (best == seats[touched].end() ? result.rest : result.rounds[best->round][best->side]).push_back(place);
  }
  ClassRounds::Places order;
  order.reserve(supports.rows.size());
  const auto renumber = [&](ClassRounds::Places& places) {
    const std::size_t first = order.size();
    order.insert(order.end(), places.begin(), places.end());
    std::iota(places.begin(), places.end(), static_cast<std::uint32_t>(first));
  };
  for (const std::size_t side : {0U, 1U}) {
    for (auto& sides : result.rounds) renumber(sides[side]);
  }
  renumber(result.rest);
  supports.arrange(order);
  return result;
}

}  // namespace fenchel::solver
