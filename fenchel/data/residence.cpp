#include "fenchel/data/residence.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace fenchel::data {

namespace {

template <class Value>
std::size_t bytes_in(const CsrRows<Value>& rows) {
  return rows.offsets.size_bytes() + rows.nonzeros() * (sizeof(rows.columns[0]) + sizeof(rows.values[0]));
}
template <class Value>
std::size_t bytes_in(const DenseRows<Value>& rows) {
  return rows.values.size_bytes();
}

void advise(std::span<const std::byte> bytes) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  if (bytes.empty()) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin,
            MADV_WILLNEED);  // a wish; NOLINT(performance-no-int-to-ptr)
}

// Offsets may not have been checked yet.
template <class Value>
void advise_rows(const CsrRows<Value>& rows, std::size_t first, std::size_t last) {
  if (rows.begins != nullptr) return;  // of mapped files there are none
  const std::size_t end = std::min<std::size_t>(rows.offsets[last], rows.nonzeros());
  const std::size_t begin = std::min<std::size_t>(rows.offsets[first], end);
  advise(std::as_bytes(rows.columns.subspan(begin, end - begin)));
  advise(std::as_bytes(rows.values.subspan(begin, end - begin)));
}
template <class Value>
void advise_rows(const DenseRows<Value>& rows, std::size_t first, std::size_t last) {
  advise(std::as_bytes(rows.values.subspan(first * rows.column_count, (last - first) * rows.column_count)));
}

}  // namespace

std::size_t bytes_of(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return bytes_in(rows); }, matrix);
}

bool is_mapped(const Matrix& matrix) {
  return std::visit([](const auto& rows) { return rows.guard != nullptr; }, matrix);
}

void will_need(const Matrix& matrix, std::size_t first, std::size_t last) {
  std::visit([&](const auto& rows) { advise_rows(rows, first, last); }, matrix);
}

}  // namespace fenchel::data
