// Vectors as long as the data have rows or columns, or a number a class longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace fenchel {

inline constexpr std::size_t large_page = std::size_t{2} << 20;

// Asks the system for large pages: fetching small ones, each for itself, takes longer than a pass over the data that a long
// vector is made for. A wish, which is refused where there are none. `memory` begins with a page.
void wish_for_large_pages(void* memory, std::size_t bytes) noexcept;

// From a large page on, memory begins with one of its own, and the system is asked for more of them. Entries that no value was given
// for are not written: whoever fills the vector, in parallel perhaps, touches its pages first. Where assertions
// are on they are NaN, so that nobody uses one unnoticed.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
  LargePages(const LargePages<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    std::size_t bytes = count * sizeof(T);
    if (bytes < large_page) return std::allocator<T>().allocate(count);
    // A little more may make a large page of what would be hundreds of small ones.
    const std::size_t rest = (large_page - bytes % large_page) % large_page;
    if (rest <= bytes / 32 && bytes <= std::numeric_limits<std::size_t>::max() - rest) bytes += rest;
    void* const memory = ::operator new (bytes, std::align_val_t{large_page});
    wish_for_large_pages(memory, bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < large_page) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{large_page});
  }
  template <class Item>
  void construct(Item* place) {
#ifdef NDEBUG
    ::new (static_cast<void*>(place)) Item;
#else
    ::new (static_cast<void*>(place)) Item(std::numeric_limits<Item>::quiet_NaN());
#endif
  }
  template <class Item, class... Arguments>
  void construct(Item* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) Item(std::forward<Arguments>(arguments)...);
  }
};

template <class T, class Other>
bool operator==(const LargePages<T>& /*a*/, const LargePages<Other>& /*b*/) {
  return true;
}

// LargeVector(count) and resize(count) fill nothing; LargeVector(count, 0.0) and resize(count, 0.0) do.
using LargeVector = std::vector<double, LargePages<double>>;
// The same for numbers of rows.
using LargeList = std::vector<std::uint32_t, LargePages<std::uint32_t>>;

}  // namespace fenchel
