// What a problem has besides its risk: a separable penalty, or a constraint w in K and no penalty.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/penalty/constraint.hpp"
#include "fenchel/penalty/separable.hpp"

namespace fenchel::penalty {

class Regularizer : public Separable {
 public:
  Regularizer() = default;
  Regularizer(Separable penalty) : Separable(std::move(penalty)) {}
  explicit Regularizer(const Constraint& constraint) : constraint_(constraint) {}

  [[nodiscard]] const std::optional<Constraint>& constraint() const { return constraint_; }

 private:
  std::optional<Constraint> constraint_;
};

}  // namespace fenchel::penalty
