#include "fenchel/data/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/large_vector.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FENCHEL_SEES_ADDRESSES
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FENCHEL_SEES_ADDRESSES
#endif
#endif
#ifdef FENCHEL_SEES_ADDRESSES
#include <sanitizer/asan_interface.h>
#endif

namespace fenchel::data {

namespace {

// Pages that go back to the system must carry no marks of the sanitizer: others may get them.
void allow(std::byte* memory, std::size_t bytes) {
#ifdef FENCHEL_SEES_ADDRESSES
  __asan_unpoison_memory_region(memory, bytes);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

// Below this, large pages would waste more than they save.
constexpr std::size_t worth_large_pages = std::size_t{4} << 20;

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

void* map_memory(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= worth_large_pages) wish_for_large_pages(at, bytes);
  return at;
}

void* map_file(std::size_t bytes, const std::string& directory) {
  const auto fail = [&](int code) {
    throw Error(Fault::failure, fmt::format("{}: cannot hold a temporary file of {} bytes: {}", directory, bytes,
                                            std::generic_category().message(code)));
  };
  std::string name = directory + "/.fenchel-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail(errno);
  ::unlink(name.c_str());
  // Space is reserved now: a disk that fills up later would end the process when a page is touched.
  const int refused = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* const at = refused != 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int code = refused != 0 ? refused : errno;
  ::close(file);
  if (at == MAP_FAILED) fail(code);
  return at;
}

}  // namespace

Pages::Pages(std::size_t bytes, const std::string& directory) : size_(whole_pages(bytes)) {
  if (size_ < bytes) throw std::bad_alloc();
  if (size_ == 0) return;
  data_ = static_cast<std::byte*>(directory.empty() ? map_memory(size_) : map_file(size_, directory));
}

Pages::~Pages() {
  if (size_ == 0) return;
  allow(data_, size_);
  ::munmap(data_, size_);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void Pages::shrink(std::size_t bytes) {
  const std::size_t kept = whole_pages(bytes);
  allow(data_, size_);
  if (kept >= size_) return;
  ::munmap(data_ + kept, size_ - kept);
  size_ = kept;
  if (size_ == 0) data_ = nullptr;
}

void will_need(std::span<const char> memory) {
#ifdef MADV_POPULATE_READ
  const std::size_t page = whole_pages(1);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data() + memory.size());
  // A hint: where the system does not know it, pages come when they are touched.
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);  // NOLINT(performance-no-int-to-ptr)
#else
  static_cast<void>(memory);
#endif
}

void let_go(std::span<const char> file) {
  const std::size_t page = whole_pages(1);
  const std::size_t begin = whole_pages(reinterpret_cast<std::uintptr_t>(file.data()));
  const std::size_t end = reinterpret_cast<std::uintptr_t>(file.data() + file.size()) / page * page;
  if (begin >= end) return;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
}

void Pages::forbid_from(std::size_t bytes) const {
#ifdef FENCHEL_SEES_ADDRESSES
  __asan_poison_memory_region(data_ + bytes, size_ - bytes);
#else
  static_cast<void>(bytes);
#endif
}

void Pages::grow(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  if (wanted <= size_) return;
  allow(data_, size_);
  void* const at = ::mremap(data_, size_, wanted, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
  size_ = wanted;
}

}  // namespace fenchel::data
