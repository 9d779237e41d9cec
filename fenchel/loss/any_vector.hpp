// The registry of multiclass losses, parallel to any.hpp: a new one is a header and one more name here. `Chosen` is a loss of
// either kind, as settings and model files name it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "fenchel/loss/any.hpp"
#include "fenchel/loss/multiclass_hinge.hpp"
#include "fenchel/loss/smooth_multiclass_hinge.hpp"
#include "fenchel/loss/soft_max_of_hinge.hpp"
#include "fenchel/loss/softmax.hpp"

namespace fenchel::loss {

using AnyVector = std::variant<MulticlassHinge, SmoothMulticlassHinge, SoftMaxOfHinge, Softmax>;

// gamma such that the loss is (1/gamma)-smooth in its k scores; 0: it is not smooth.
inline double smoothness(const AnyVector& any, std::size_t classes) {
  return std::visit([&](const auto& loss) { return loss.smoothness(classes); }, any);
}

namespace detail {
template <class First, class Second>
struct Joined;
template <class... A, class... B>
struct Joined<std::variant<A...>, std::variant<B...>> {
  using Type = std::variant<A..., B...>;
};
}  // namespace detail

class Chosen : public detail::Joined<Any, AnyVector>::Type {
 public:
  using Variant = detail::Joined<Any, AnyVector>::Type;
  using Variant::Variant;
  Chosen(const Variant& any) : Variant(any) {}  // NOLINT(google-explicit-constructor): as below
  // Implicit, like the conversion from a single loss.
  Chosen(const Any& any)  // NOLINT(google-explicit-constructor)
      : Variant(std::visit([](const auto& loss) { return Variant(loss); }, any)) {}
  Chosen(const AnyVector& any)  // NOLINT(google-explicit-constructor)
      : Variant(std::visit([](const auto& loss) { return Variant(loss); }, any)) {}

  // The loss as one of its kind; nothing if it is of the other.
  [[nodiscard]] std::optional<Any> scalar() const { return as<Any>(); }
  [[nodiscard]] std::optional<AnyVector> vector() const { return as<AnyVector>(); }
  // Whether one problem has all classes as outputs, in place of one problem a class.
  [[nodiscard]] bool joint() const { return vector().has_value(); }

 private:
  template <class Kind>
  [[nodiscard]] std::optional<Kind> as() const {
    return std::visit(
        []<class L>(const L& loss) -> std::optional<Kind> {
          if constexpr (std::is_constructible_v<Kind, const L&>) {
            return Kind(loss);
          } else {
            return std::nullopt;
          }
        },
        static_cast<const Variant&>(*this));
  }
};

inline std::string_view name(const Chosen& chosen) {
  return std::visit([](const auto& loss) { return std::string_view(loss.name); },
                    static_cast<const Chosen::Variant&>(chosen));
}
inline Task task(const Chosen& chosen) {
  return std::visit([](const auto& loss) { return loss.task; }, static_cast<const Chosen::Variant&>(chosen));
}

// Calls visitor(std::type_identity<L>{}) for every multiclass loss L, in the order of the list.
template <class Visitor>
void for_each_vector_type(Visitor visitor) {
  [&]<class... L>(std::type_identity<std::variant<L...>>) {
    static_assert((VectorLoss<L> && ...));
    (visitor(std::type_identity<L>{}), ...);
  }(std::type_identity<AnyVector>{});
}

// The same for losses of both kinds.
template <class Visitor>
void for_each_chosen_type(Visitor visitor) {
  for_each_type(visitor);
  for_each_vector_type(visitor);
}

}  // namespace fenchel::loss
