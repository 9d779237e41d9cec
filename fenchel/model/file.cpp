#include "fenchel/model/file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/model/header.hpp"

namespace fenchel::model {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "fenchel\x1a"sv;
constexpr std::size_t prefix_size = 24;  // magic, version, zero, length of the header
constexpr std::size_t checksum_size = 16;
constexpr std::size_t word = 8;

// Sparse arrays are longer than what the file holds of them. This bounds how much, so that a small file cannot ask for all
// the memory there is; where an honest model would exceed it, the writer makes its arrays dense.
std::uint64_t most_entries(std::uint64_t file_size) { return (std::uint64_t{1} << 24) + 128 * file_size; }

[[noreturn]] void refuse(const std::string& reason) { throw Error(Fault::input, reason); }

std::uint64_t to_multiple(std::uint64_t size) { return (size + word - 1) / word * word; }

bool wide_positions(std::uint64_t count) { return count > (std::uint64_t{1} << 32); }

std::uint64_t stored_size(const ArrayEntry& array) {
  if (!array.sparse) return word * array.count;
  return to_multiple((wide_positions(array.count) ? 8 : 4) * array.stored) + word * array.stored;
}

// --- little-endian words ---

template <class Word>
void append(std::string& bytes, Word value) {
  std::array<char, sizeof(Word)> raw;
  std::memcpy(raw.data(), &value, sizeof value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(raw);
  bytes.append(raw.data(), raw.size());
}

template <class Word>
Word word_at(std::string_view bytes, std::size_t offset) {
  std::array<char, sizeof(Word)> raw;
  std::memcpy(raw.data(), bytes.data() + offset, raw.size());
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(raw);
  return std::bit_cast<Word>(raw);
}

void append_checksum(std::string& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  append<std::uint64_t>(bytes, hash.low64);
  append<std::uint64_t>(bytes, hash.high64);
}

bool checksum_holds(std::string_view bytes) {
  const std::size_t body = bytes.size() - checksum_size;
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), body);
  return word_at<std::uint64_t>(bytes, body) == hash.low64 &&
         word_at<std::uint64_t>(bytes, body + word) == hash.high64;
}

// --- arrays ---

// An array of the model that goes behind the header, and how long the rest of the model says it is.
template <class Vector>
struct Slot {
  std::string name;
  Vector* values;
  std::uint64_t count;
};

struct OptionalArrays {
  bool sample_weights = false;
  bool penalty_factors = false;
  bool scales = false;
};

// The arrays of a model in the order of the file, with those optional ones that are there.
template <class SomeModel>
auto slots_of(SomeModel& model, const OptionalArrays& present) {
  std::vector<Slot<std::remove_reference_t<decltype((model.weights))>>> slots;
  const std::uint64_t constant = model.settings.bias == registry::Bias::regularized ? 1 : 0;
  if (present.sample_weights) slots.push_back({"sample_weights", &model.weights, model.rows});
  if (present.penalty_factors) slots.push_back({"penalty_factors", &model.factors, model.features});
  if (present.scales) slots.push_back({"scales", &model.scales, model.features});
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    slots.push_back({fmt::format("outputs[{}].w", k), &model.outputs[k].w, model.features + constant});
    slots.push_back({fmt::format("outputs[{}].beta", k), &model.outputs[k].beta, model.rows});
  }
  return slots;
}

using Slots = std::vector<Slot<std::vector<double>>>;
using ConstSlots = std::vector<Slot<const std::vector<double>>>;

// Negative zeros count as entries: what comes back is bit for bit what went in.
bool is_stored(double value) { return std::bit_cast<std::uint64_t>(value) != 0; }

enum class Encoding { smallest, dense };

std::vector<ArrayEntry> plan_arrays(const ConstSlots& slots, Encoding encoding) {
  std::vector<ArrayEntry> arrays;
  std::uint64_t offset = 0;
  for (const auto& slot : slots) {
    const std::uint64_t count = slot.values->size();
    ArrayEntry entry{.name = slot.name, .sparse = false, .count = count, .stored = count, .offset = offset};
    ArrayEntry sparse = entry;
    sparse.sparse = true;
    sparse.stored = static_cast<std::uint64_t>(std::ranges::count_if(*slot.values, is_stored));
    if (encoding == Encoding::smallest && stored_size(sparse) < stored_size(entry)) entry = sparse;
    offset += stored_size(entry);
    arrays.push_back(std::move(entry));
  }
  return arrays;
}

std::uint64_t sparse_entries(std::span<const ArrayEntry> arrays) {
  std::uint64_t sum = 0;
  for (const ArrayEntry& array : arrays) sum += array.sparse ? array.count : 0;
  return sum;
}

template <class Position>
void append_positions(std::string& bytes, std::span<const double> values) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (is_stored(values[j])) append(bytes, static_cast<Position>(j));
  }
  bytes.resize(to_multiple(bytes.size()), '\0');
}

void append_array(std::string& bytes, const ArrayEntry& array, std::span<const double> values) {
  if (array.sparse && wide_positions(array.count)) append_positions<std::uint64_t>(bytes, values);
  if (array.sparse && !wide_positions(array.count)) append_positions<std::uint32_t>(bytes, values);
  for (const double value : values) {
    if (!array.sparse || is_stored(value)) append(bytes, value);
  }
}

// The size was checked before: stored_size(array) bytes are there.
template <class Position>
void read_sparse(std::string_view bytes, const ArrayEntry& array, std::vector<double>& values) {
  values.assign(array.count, 0.0);
  const std::size_t numbers = to_multiple(sizeof(Position) * array.stored);
  std::uint64_t next = 0;
  for (std::size_t k = 0; k < array.stored; ++k) {
    const auto position = static_cast<std::uint64_t>(word_at<Position>(bytes, k * sizeof(Position)));
    if (position < next || position >= array.count)
      refuse("is not a valid model: positions of an array do not ascend");
    values[position] = word_at<double>(bytes, numbers + k * word);
    next = position + 1;
  }
}

void read_array(std::string_view bytes, const ArrayEntry& array, std::vector<double>& values) {
  if (array.sparse) {
    return wide_positions(array.count) ? read_sparse<std::uint64_t>(bytes, array, values)
                                       : read_sparse<std::uint32_t>(bytes, array, values);
  }
  values.resize(array.count);
  for (std::size_t k = 0; k < array.count; ++k) values[k] = word_at<double>(bytes, k * word);
}

// Checks the table against the slots and the bytes that are there, before anything is allocated.
void check_table(std::span<const ArrayEntry> arrays, const Slots& slots, std::uint64_t available,
                 std::uint64_t file_size) {
  if (arrays.size() != slots.size()) refuse("is not a valid model: the table of arrays does not fit the outputs");
  std::uint64_t offset = 0;
  std::uint64_t expanded = 0;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const ArrayEntry& array = arrays[k];
    if (array.name != slots[k].name) refuse("is not a valid model: the table of arrays has unknown names");
    if (array.count != slots[k].count) {
      refuse(fmt::format("is not a valid model: {} has {} entries instead of {}", array.name, array.count,
                         slots[k].count));
    }
    const std::uint64_t left = available - offset;
    const bool fits = array.sparse ? array.stored <= array.count && array.stored <= left / word
                                   : array.stored == array.count && array.count <= left / word;
    if (array.offset != offset || !fits || stored_size(array) > left) {
      refuse(fmt::format("is not a valid model: {} does not lie in the file", array.name));
    }
    offset += stored_size(array);
    if (array.sparse) {
      if (array.count > most_entries(file_size) - expanded) refuse("is not a valid model: its arrays are too long");
      expanded += array.count;
    }
  }
  if (offset != available) refuse("is not a valid model: bytes are left over behind the arrays");
}

Model parse(std::string_view bytes) {
  const std::size_t common = std::min(bytes.size(), magic.size());
  if (bytes.empty() || bytes.substr(0, common) != magic.substr(0, common)) refuse("is not a fenchel model");
  if (bytes.size() < magic.size() + sizeof(std::uint32_t))
    refuse("is truncated: not even the model's header is there");
  const auto version = word_at<std::uint32_t>(bytes, magic.size());
  if (version > format_version) {
    refuse(
        fmt::format("was written by a newer fenchel: the model has format version {}, and this program reads "
                    "version {}",
                    version, format_version));
  }
  if (version == 0) refuse("is corrupt: it has no format version");
  if (bytes.size() < prefix_size + checksum_size) refuse("is truncated: not even the model's header is there");
  const auto header_size = word_at<std::uint64_t>(bytes, prefix_size - word);
  const std::uint64_t body = bytes.size() - prefix_size - checksum_size;
  if (!checksum_holds(bytes)) {
    refuse(header_size > body ? "is truncated or corrupt: it ends inside the model's header"
                              : "is truncated or corrupt: its checksum does not match its content");
  }
  if (header_size > body || header_size % word != 0 || word_at<std::uint32_t>(bytes, magic.size() + 4) != 0) {
    refuse("is not a valid model: the length of the header is wrong");
  }
  Header header = read_header(bytes.substr(prefix_size, header_size));
  Model& model = header.model;
  if (model.features > std::numeric_limits<std::uint64_t>::max() - 1)
    refuse("is not a valid model: too many features");
  const auto listed = [&](std::string_view name) {
    return std::ranges::any_of(header.arrays, [&](const ArrayEntry& array) { return array.name == name; });
  };
  const Slots slots = slots_of(model, {.sample_weights = listed("sample_weights"),
                                       .penalty_factors = listed("penalty_factors"),
                                       .scales = listed("scales")});
  const std::string_view arrays = bytes.substr(prefix_size + header_size, body - header_size);
  check_table(header.arrays, slots, arrays.size(), bytes.size());
  for (std::size_t k = 0; k < slots.size(); ++k) {
    read_array(arrays.substr(header.arrays[k].offset), header.arrays[k], *slots[k].values);
  }
  if (const auto found = flaw(model)) refuse("is not a valid model: " + *found);
  return std::move(model);
}

}  // namespace

bool is_model(std::string_view bytes) { return bytes.starts_with(magic); }

std::string serialize(const Model& model) {
  if (const auto found = flaw(model)) throw Error(Fault::failure, "the model cannot be stored: " + *found);
  const ConstSlots slots = slots_of(model, {.sample_weights = !model.weights.empty(),
                                            .penalty_factors = !model.factors.empty(),
                                            .scales = !model.scales.empty()});
  std::vector<ArrayEntry> arrays = plan_arrays(slots, Encoding::smallest);
  // An upper bound on the entries wants a lower bound on the size: the arrays alone.
  if (sparse_entries(arrays) > most_entries(arrays.back().offset + stored_size(arrays.back()))) {
    arrays = plan_arrays(slots, Encoding::dense);
  }
  std::string header = write_header(model, arrays);
  header.resize(to_multiple(header.size()), ' ');

  std::string bytes;
  bytes.reserve(prefix_size + header.size() + arrays.back().offset + stored_size(arrays.back()) + checksum_size);
  bytes += magic;
  append<std::uint32_t>(bytes, format_version);
  append<std::uint32_t>(bytes, 0);
  append<std::uint64_t>(bytes, header.size());
  bytes += header;
  for (std::size_t k = 0; k < slots.size(); ++k) append_array(bytes, arrays[k], *slots[k].values);
  append_checksum(bytes);
  return bytes;
}

Model deserialize(std::string_view bytes, const std::string& name) {
  try {
    return parse(bytes);
  } catch (const Error& error) {
    throw Error(Fault::input, fmt::format("{}: {}", name, error.what()));
  }
}

void save(const Model& model, const std::string& path) {
  if (const auto found = flaw(model)) {
    throw Error(Fault::failure, fmt::format("{}: cannot write: the model is broken: {}", path, *found));
  }
  write_file(path, serialize(model));
}

Model load(const std::string& path) {
  data::Source source(path);
  return deserialize(source.text(), source.name());
}

}  // namespace fenchel::model
