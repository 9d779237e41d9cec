#include "fenchel/data/binary.hpp"

#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/binary_guard.hpp"
#include "fenchel/data/columns.hpp"
#include "fenchel/data/pages.hpp"

namespace fenchel::data {

namespace {

// Columns are what they are; but where they came from svmlight text, another base may mean other features.
std::string remark_on_base(const BinaryFile& file, const ReadOptions& options) {
  const int base = file.layout.shape.one_based ? 1 : 0;
  if (!options.index_base || *options.index_base == base) return {};
  return fmt::format(
      "{} counts columns from {} and the model from {}: its first column is taken for the model's first", file.name,
      base, *options.index_base);
}

Values values_in(const BinaryFile& file) {
  if (file.layout.shape.single) return file.array<float>(SectionKind::values);
  return file.array<double>(SectionKind::values);
}

std::variant<CsrStorage, DenseStorage> storage_in(const BinaryFile& file) {
  const BinaryShape& shape = file.layout.shape;
  if (!shape.sparse) return DenseStorage{values_in(file), shape.rows, shape.columns};
  return CsrStorage{file.array<std::uint64_t>(SectionKind::offsets),
                    file.array<std::uint32_t>(SectionKind::columns), values_in(file), shape.columns};
}

// Values that become 0 as floats leave sparse rows, as they do when text is read.
CsrStorage without_zeros(const CsrStorage& from, const Buffer<float>& floats) {
  Buffer<std::uint64_t> offsets(from.offsets.size());
  Buffer<std::uint32_t> columns(floats.size());
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i + 1 < from.offsets.size(); ++i) {
    for (std::uint64_t k = from.offsets[i]; k < from.offsets[i + 1]; ++k) {
      if (floats.data()[k] == 0.0F) continue;
      columns.data()[kept] = from.columns[k];
      floats.data()[kept++] = floats.data()[k];
    }
    offsets.data()[i + 1] = kept;
  }
  return {std::move(offsets).freeze(), std::move(columns).freeze(kept), {}, from.column_count};
}

class LabelCheck final : public FirstUse {
 public:
  explicit LabelCheck(std::shared_ptr<const BinaryFile> file) : file_(std::move(file)) {}

 private:
  void check() const override { file_->check_labels(); }

  std::shared_ptr<const BinaryFile> file_;
};

// The doubles of a file as floats, in memory of our own.
void narrow(Dataset& data, const BinaryFile& file, const LinesGuard& guard) {
  guard.ensure_all();
  file.check_labels();  // without the guard, verify() has nothing left to look at
  const auto doubles = file.numbers<double>(SectionKind::values);
  Buffer<float> floats(doubles.size());
  std::atomic<bool> overflow = false, underflow = false;
  for_each_block(doubles.size(), [&](std::size_t begin, std::size_t end) {
    bool infinite = false, vanished = false;
    for (std::size_t k = begin; k < end; ++k) {
      const auto value = static_cast<float>(doubles[k]);
      infinite |= !std::isfinite(value);
      vanished |= value == 0.0F;
      floats.data()[k] = value;
    }
    if (infinite) overflow = true;
    if (vanished) underflow = true;
  });
  if (overflow) {
    throw Error(Fault::input, fmt::format("{}: a value overflows a float32: use --precision f64", file.name));
  }
  std::size_t kept = floats.size();
  if (auto* const sparse = std::get_if<CsrStorage>(&data.storage); sparse != nullptr && underflow) {
    *sparse = without_zeros(*sparse, floats);
    kept = sparse->columns.size();
  }
  std::visit([&](auto& storage) { storage.values = std::move(floats).freeze(kept); }, data.storage);
  data.guard = nullptr;
}

const LinesGuard* guard_of(const Dataset& data) { return dynamic_cast<const LinesGuard*>(data.guard.get()); }

// A number that two forms of a matrix share however their entries are ordered.
std::uint64_t scrambled(std::uint64_t row, std::uint64_t column, double value) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value) ^ (row * 0x9e3779b97f4a7c15U) ^
                       std::rotl(column * 0xc2b2ae3d27d4eb4fU, 32);
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93U;
  bits = (bits ^ (bits >> 29)) * 0x9fb21c651e98df25U;
  return bits ^ (bits >> 32);
}

std::uint64_t content_of(const Matrix& matrix) {
  std::atomic<std::uint64_t> sum = 0;
  std::visit(
      [&](const auto& m) {
        for_each_block(m.rows(), [&](std::size_t begin, std::size_t end) {
          std::uint64_t part = 0;
          for (std::size_t i = begin; i < end; ++i) {
            m.row(i).for_each([&](std::size_t j, double x) { part += x == 0.0 ? 0 : scrambled(i, j, x); });
          }
          sum += part;
        });
      },
      matrix);
  return sum;
}

std::uint64_t content_of(const ColumnMatrix& matrix) {
  std::atomic<std::uint64_t> sum = 0;
  std::visit(
      [&](const auto& m) {
        for_each_block(m.cols(), [&](std::size_t begin, std::size_t end) {
          std::uint64_t part = 0;
          for (std::size_t j = begin; j < end; ++j) {
            m.column(j).for_each([&](std::size_t i, double x) { part += scrambled(i, j, x); });
          }
          sum += part;
        });
      },
      matrix);
  return sum;
}

}  // namespace

bool is_binary(std::string_view head) { return head.starts_with(binary_magic); }

Dataset read_binary(Source& source, const ReadOptions& options) {
  const std::string_view text = source.text();
  const auto file = std::make_shared<const BinaryFile>(
      BinaryFile{source.name(), text, source.owner(), decode_header(text, source.name())});
  const BinaryShape& shape = file->layout.shape;
  const auto guard = LinesGuard::of_rows(file);
  const auto labels = std::make_shared<const LabelCheck>(file);
  const bool f32 = shape.single_asked || options.precision == Precision::f32;
  Dataset data{.storage = storage_in(*file),
               .targets = file->array<double>(SectionKind::targets, labels),
               .query = file->array<std::int64_t>(SectionKind::query, labels),
               .index_base = shape.one_based ? 1 : 0,
               .precision = f32 ? Precision::f32 : Precision::f64,
               .guard = guard,
               .remark = remark_on_base(*file, options)};
  if (f32 && !shape.single) narrow(data, *file, *guard);
  return data;
}

void verify(const Dataset& data) {
  const LinesGuard* const guard = guard_of(data);
  if (guard == nullptr) return;
  guard->ensure_all();
  const BinaryFile& file = *guard->file();
  file.check_labels();
  file.check_padding();
  if (!file.layout.shape.column_form) return;
  if (content_of(columns_of(data).matrix()) != content_of(data.matrix())) {
    throw Error(Fault::input,
                fmt::format("{}: its rows and its column form are not the same matrix; make it again with "
                            "`fenchel convert`",
                            file.name));
  }
}

std::vector<BinarySection> binary_sections(const Dataset& data) {
  std::vector<BinarySection> sections;
  if (const LinesGuard* const guard = guard_of(data)) {
    for (const Section& section : guard->file()->layout.sections) {
      sections.push_back({name(section.kind), section.offset, section.bytes});
    }
  }
  return sections;
}

}  // namespace fenchel::data
