// Memory straight from the system, for arrays that are filled once and are as large as the data: nothing is written
// before the caller writes it, large pages are asked for, and what was not needed goes back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "fenchel/data/array.hpp"

namespace fenchel::data {

// Zero bytes, page-aligned. With a directory they are pages of a nameless file there, which the system may write out
// when memory is short, instead of pages that must stay in memory.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes, const std::string& directory = {});
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void shrink(std::size_t bytes);
  // Lets the address sanitizer, where there is one, report who touches what lies behind so many bytes.
  void forbid_from(std::size_t bytes) const;
  void grow(std::size_t bytes);  // may move; only for pages in memory

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Says that memory will be read soon, so that pages of a mapped file come all at once instead of one fault each.
void will_need(std::span<const char> memory);
// Whole pages of a mapped file that nobody may want again; they come back from the file if somebody does. Not for memory of
// our own, which would be lost.
void let_go(std::span<const char> file);

// An array to be filled.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count, const std::string& directory = {})
      : pages_(count * sizeof(T), directory), size_(count) {
    pages_.forbid_from(count * sizeof(T));
  }

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(pages_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }

  // The first `count` entries, from now on read-only.
  [[nodiscard]] Array<T> freeze(std::size_t count) && {
    pages_.shrink(count * sizeof(T));
    const auto owner = std::make_shared<Pages>(std::move(pages_));
    return {std::span<const T>(reinterpret_cast<const T*>(owner->data()), count), owner};
  }
  [[nodiscard]] Array<T> freeze() && { return std::move(*this).freeze(size_); }

 private:
  Pages pages_;
  std::size_t size_ = 0;
};

}  // namespace fenchel::data
