// Loops whose turns run in parallel, in any order and on any thread: results must not depend on either.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace fenchel {

// A view of something callable that outlives the call it is passed to.
template <class Signature>
class FunctionRef;
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  // Copies are kept apart by the requirement.
  // NOLINTBEGIN(bugprone-forwarding-reference-overload)
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>)
      FunctionRef(Callable&& callable)  // NOLINT(google-explicit-constructor): lambdas are passed as they are
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::add_pointer_t<Callable>>(object))(arguments...);
        }) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)
  Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

// Calls turn(k) for every k in [0, count); the first exception ends the loop and is passed on. Not a template: TBB's
// machinery is compiled once, not once for every loop.
void parallel_for(std::size_t count, FunctionRef<void(std::size_t)> turn);

// Calls work(), whose loops take up no turns of other loops while they wait for their own: for what is done under a lock, as such
// a turn might ask for the same lock.
void isolated(FunctionRef<void()> work);

// How many turns may run at once. Only for cuts of the work that leave the bits of the result alone.
[[nodiscard]] std::size_t threads();

}  // namespace fenchel
