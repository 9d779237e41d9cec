// What a named separable penalty offers: its shares of the l1 and the squared l2 norm, so that
//     lambda Omega(w) = lambda ( l1_share ||w||_1 + l2_share/2 ||w||^2 ).
#pragma once

#include <concepts>
#include <string_view>

#include "fenchel/base/field.hpp"
#include "fenchel/penalty/strength.hpp"

namespace fenchel::penalty {

template <class P>
concept SeparablePenalty = std::copyable<P> && requires(const P penalty, double lambda) {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::formula } -> std::convertible_to<std::string_view>;
  P::fields;  // std::array<Field<P>, k>
  // The strengths of one coordinate of penalty factor 1.
  { penalty.strength(lambda) } -> std::same_as<Strength>;
};

}  // namespace fenchel::penalty
