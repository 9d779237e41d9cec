// Numbers in one piece of memory, whoever owns it: a vector, pages of our own, or a mapped file. Read-only, and so
// cheap to copy: copies share the memory, which lives as long as the last of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace fenchel::data {

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
  Array(std::span<const T> view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}

  operator std::span<const T>() const { return view_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::span<const T> span() const { return view_; }
  [[nodiscard]] const T* data() const { return view_.data(); }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  [[nodiscard]] const T* begin() const { return view_.data(); }
  [[nodiscard]] const T* end() const { return view_.data() + view_.size(); }
  [[nodiscard]] const T& operator[](std::size_t i) const { return view_[i]; }
  [[nodiscard]] const T& front() const { return view_.front(); }
  [[nodiscard]] const T& back() const { return view_.back(); }

  // A copy that may be changed.
  [[nodiscard]] std::vector<T> vector() const { return {begin(), end()}; }

  friend bool operator==(const Array& a, const Array& b) { return std::ranges::equal(a.view_, b.view_); }

 private:
  std::span<const T> view_;
  std::shared_ptr<const void> owner_;
};

}  // namespace fenchel::data
