#include "fenchel/data/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <memory>
#include <new>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"

namespace fenchel::data {

namespace {

constexpr std::size_t block_rows = 4096;

// Takes words, hashes their little-endian bytes. The buffer keeps the calls of the hash few and the memory bounded
// however long a row is.
class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void add(std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    buffer_[filled_++] = word;
    if (filled_ == buffer_.size()) flush();
  }
  // Adding 0 turns -0 into 0 and leaves every other number alone.
  void add(double number) { add(std::bit_cast<std::uint64_t>(number + 0.0)); }

  Fingerprint finish() {
    flush();
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.high64, hash.low64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };

  void flush() {
    XXH3_128bits_update(state_.get(), buffer_.data(), filled_ * sizeof(std::uint64_t));
    filled_ = 0;
  }

  std::unique_ptr<XXH3_state_t, Free> state_;
  std::array<std::uint64_t, 1024> buffer_;
  std::size_t filled_ = 0;
};

template <class Row>
void add_row(Hasher& hasher, const Row& row) {
  std::uint64_t count = 0;
  row.for_each([&](std::uint64_t column, double value) {
    if (value == 0.0) return;
    hasher.add(column);
    hasher.add(value);
    ++count;
  });
  // The count comes behind its entries, so that dense rows need not be counted first; read from the end, the words
  // of a block still have one meaning only.
  hasher.add(count);
}

}  // namespace

std::string Fingerprint::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<Fingerprint> Fingerprint::parse(std::string_view hex) {
  constexpr std::size_t half = 16;
  if (hex.size() != 2 * half) return std::nullopt;
  Fingerprint result;
  const char* const begin = hex.data();
  const auto high = std::from_chars(begin, begin + half, result.high, 16);
  const auto low = std::from_chars(begin + half, begin + 2 * half, result.low, 16);
  if (high.ptr != begin + half || low.ptr != begin + 2 * half) return std::nullopt;
  return result;
}

Fingerprint fingerprint(const Matrix& matrix, std::span<const double> targets, std::span<const double> weights) {
  const std::size_t n = rows(matrix);
  if (targets.size() != n || (!weights.empty() && weights.size() != n)) {
    throw Error(Fault::usage,
                fmt::format("a fingerprint of {} rows needs as many targets and weights, not {} and {}", n,
                            targets.size(), weights.size()));
  }
  std::vector<Fingerprint> blocks((n + block_rows - 1) / block_rows);
  std::visit(
      [&](const auto& m) {
        parallel_for(blocks.size(), [&](std::size_t block) {
          Hasher hasher;
          const std::size_t end = std::min(n, (block + 1) * block_rows);
          for (std::size_t i = block * block_rows; i < end; ++i) {
            add_row(hasher, m.row(i));
            hasher.add(targets[i]);
            hasher.add(weights.empty() ? 1.0 : weights[i]);
          }
          blocks[block] = hasher.finish();
        });
      },
      matrix);
  Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(n));
  for (const Fingerprint& block : blocks) {
    hasher.add(block.low);
    hasher.add(block.high);
  }
  return hasher.finish();
}

}  // namespace fenchel::data
