// Numbers in one piece of memory, whoever owns it: a vector, pages of our own, or a mapped file. Read-only, and so
// cheap to copy: copies share the memory, which lives as long as the last of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace fenchel::data {

// A check that must have passed before something is first used. Many threads may ask at once; some of them may then check
// at the same time, which is harmless.
class FirstUse {
 public:
  FirstUse() = default;
  virtual ~FirstUse() = default;
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

  void ensure() const {
    if (passed_.load(std::memory_order_acquire)) return;
    check();
    passed_.store(true, std::memory_order_release);
  }

 private:
  virtual void check() const = 0;  // throws Error(Fault::input)

  mutable std::atomic<bool> passed_ = false;
};

template <class T>
class Array {
 public:
  using value_type = T;
  using const_iterator = const T*;

  Array() = default;
  // Implicit: a vector of numbers is an array of them.
  Array(std::vector<T> numbers) {  // NOLINT(google-explicit-constructor)
    auto owner = std::make_shared<const std::vector<T>>(std::move(numbers));
    view_ = *owner;
    owner_ = std::move(owner);
  }
  // With a check, whoever looks at the numbers has them checked first; their count needs none.
  Array(std::span<const T> view, std::shared_ptr<const void> owner, std::shared_ptr<const FirstUse> check = nullptr)
      : view_(view), owner_(std::move(owner)), check_(std::move(check)) {}

  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  [[nodiscard]] std::span<const T> span() const {
    if (check_ != nullptr) check_->ensure();
    return view_;
  }
  operator std::span<const T>() const { return span(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const T* data() const { return span().data(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return span()[i]; }
  [[nodiscard]] const T& front() const { return span().front(); }
  [[nodiscard]] const T& back() const { return span().back(); }

  // A copy that may be changed.
  [[nodiscard]] std::vector<T> vector() const { return {begin(), end()}; }

  friend bool operator==(const Array& a, const Array& b) { return std::ranges::equal(a.span(), b.span()); }

 private:
  std::span<const T> view_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const FirstUse> check_;
};

}  // namespace fenchel::data
