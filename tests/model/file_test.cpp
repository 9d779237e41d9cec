// Model files: everything comes back bit for bit, and nothing that was damaged comes back at all.
#include "fenchel/model/file.hpp"

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <xxhash.h>

#include "tests/model/fixture.hpp"

namespace fenchel::model {
namespace {

using registry::Bias;

class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fenchel-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] auto entries() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The same bytes with another piece of the header and a checksum that fits again.
std::string resealed(std::string bytes, const std::string& old_text, const std::string& new_text) {
  bytes.resize(bytes.size() - 16);
  const std::size_t at = bytes.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  EXPECT_EQ(old_text.size(), new_text.size());
  bytes.replace(at, old_text.size(), new_text);
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  for (const std::uint64_t word : {hash.low64, hash.high64}) {
    for (int k = 0; k < 8; ++k) bytes += static_cast<char>(word >> (8 * k) & 0xff);
  }
  return bytes;
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[k]), std::bit_cast<std::uint64_t>(b[k])) << k;
  }
}

void expect_equal(const Model& a, const Model& b) {
  EXPECT_EQ(loss::name(a.settings.loss), loss::name(b.settings.loss));
  EXPECT_EQ(a.settings.penalty.index(), b.settings.penalty.index());
  EXPECT_EQ(a.settings.lambda, b.settings.lambda);
  EXPECT_EQ(a.settings.C, b.settings.C);
  EXPECT_EQ(a.settings.bias, b.settings.bias);
  EXPECT_EQ(a.settings.bias_value, b.settings.bias_value);
  EXPECT_EQ(a.settings.class_weight.balanced, b.settings.class_weight.balanced);
  EXPECT_EQ(a.settings.class_weight.by_label, b.settings.class_weight.by_label);
  EXPECT_EQ(a.settings.solver, b.settings.solver);
  EXPECT_EQ(a.settings.seed, b.settings.seed);
  EXPECT_EQ(a.solver, b.solver);
  EXPECT_EQ(a.lambda, b.lambda);
  EXPECT_EQ(a.strength.l1, b.strength.l1);
  EXPECT_EQ(a.strength.l2, b.strength.l2);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.nonzeros, b.nonzeros);
  EXPECT_EQ(a.index_base, b.index_base);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  expect_same_bits(a.weights, b.weights);
  expect_same_bits(a.factors, b.factors);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (std::size_t k = 0; k < a.outputs.size(); ++k) {
    const registry::Output &x = a.outputs[k], &y = b.outputs[k];
    expect_same_bits(x.w, y.w);
    expect_same_bits(x.beta, y.beta);
    expect_same_bits({x.b, x.certificate.primal, x.certificate.dual, x.certificate.gap, x.certificate.rounding,
                      x.bias_range.low, x.bias_range.high, x.passes},
                     {y.b, y.certificate.primal, y.certificate.dual, y.certificate.gap, y.certificate.rounding,
                      y.bias_range.low, y.bias_range.high, y.passes});
    EXPECT_EQ(x.status, y.status);
  }
}

Model small_model() { return fitted(random_data({.rows = 6, .columns = 3}), settings_for(loss::Hinge{})); }

TEST(ModelFile, RoundTrip) {
  registry::Settings settings = settings_for(loss::SmoothHinge{.gamma = 0.3}, 0.01, Bias::regularized);
  settings.penalty = penalty::ElasticNet{.l1_ratio = 0.7};
  settings.bias_value = 2.5;
  settings.class_weight.by_label = {{1.0, 0.1}, {2.0, 3.0}};
  settings.seed = std::numeric_limits<std::uint64_t>::max();
  const data::Dataset dataset = random_data({.rows = 50, .columns = 5, .classes = 3});
  Extras extras;
  extras.weights.assign(50, 1.5);
  extras.factors = {1.0, 0.1, 2.0, 0.5, 3.0};
  Model model = fitted(dataset, settings, extras);
  model.index_base = 0;
  const Model again = deserialize(serialize(model), "m");
  expect_equal(model, again);
  EXPECT_EQ(std::get<loss::SmoothHinge>(again.settings.loss).gamma, 0.3);
  EXPECT_EQ(std::get<penalty::ElasticNet>(again.settings.penalty).l1_ratio, 0.7);
  EXPECT_FALSE(again.written_by.empty());
  EXPECT_EQ(serialize(again), serialize(model));
}

TEST(ModelFile, RoundTripOfDirectStrengthsAndRegression) {
  registry::Settings settings = settings_for(loss::Huber{.delta = 0.5});
  settings.lambda.reset();
  settings.direct = penalty::Strength{.l1 = 0.1, .l2 = 1.0 / 3.0};
  const Model model = fitted(random_data({.classes = 0}), settings);
  const Model again = deserialize(serialize(model), "m");
  expect_equal(model, again);
  ASSERT_TRUE(again.settings.direct);
  EXPECT_EQ(again.settings.direct->l2, 1.0 / 3.0);
}

TEST(ModelFile, SparseArraysAreSmallAndExact) {
  Model model = small_model();
  model.features = 100000;
  model.outputs[0].w.assign(model.features, 0.0);
  model.outputs[0].w[7] = -0.0;
  model.outputs[0].w[99999] = 0.1;
  model.outputs[0].w[500] = std::numeric_limits<double>::denorm_min();
  const std::string bytes = serialize(model);
  EXPECT_LT(bytes.size(), 4000U);
  EXPECT_NE(bytes.find("\"sparse\""), std::string::npos);
  expect_equal(model, deserialize(bytes, "m"));
  for (double& w : model.outputs[0].w) w = 0.1;
  const std::string dense = serialize(model);
  EXPECT_GT(dense.size(), 800000U);
  expect_equal(model, deserialize(dense, "m"));
}

TEST(ModelFile, InfiniteBiasRangeSurvives) {
  Model model = small_model();
  model.outputs[0].bias_range = {};
  expect_equal(model, deserialize(serialize(model), "m"));
}

TEST(ModelFile, EveryTruncationIsRefused) {
  const std::string bytes = serialize(small_model());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string reason =
        refusal(Fault::input, [&] { deserialize(std::string_view(bytes).substr(0, size), "m"); });
    EXPECT_TRUE(reason.starts_with("m: is ")) << reason;
    if (size > 12) {
      EXPECT_NE(reason.find("truncated"), std::string::npos) << reason;
    }
  }
  refusal(Fault::input, [&] { deserialize(bytes + '\0', "m"); });
}

TEST(ModelFile, EveryFlippedByteIsRefused) {
  std::string bytes = serialize(small_model());
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      bytes[k] = static_cast<char>(bytes[k] ^ mask);
      EXPECT_TRUE(refusal(Fault::input, [&] { deserialize(bytes, "m"); }).starts_with("m: ")) << k;
      bytes[k] = static_cast<char>(bytes[k] ^ mask);
    }
  }
  EXPECT_NO_THROW(deserialize(bytes, "m"));
}

TEST(ModelFile, SaysWhatIsWrong) {
  const std::string bytes = serialize(small_model());
  const auto reason = [](const std::string& content) {
    return refusal(Fault::input, [&] { deserialize(content, "x.fenchel"); });
  };
  EXPECT_EQ(reason("1 1:2\n"), "x.fenchel: is not a fenchel model");
  EXPECT_EQ(reason(""), "x.fenchel: is not a fenchel model");
  std::string newer = bytes;
  newer[8] = 7;
  EXPECT_EQ(reason(newer),
            "x.fenchel: was written by a newer fenchel: the model has format version 7, and this program reads "
            "version 1");
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_EQ(reason(damaged), "x.fenchel: is truncated or corrupt: its checksum does not match its content");
}

TEST(ModelFile, InconsistenciesAreRefusedEvenWithARightChecksum) {
  const std::string bytes = serialize(small_model());
  const auto refused = [&](const std::string& old_text, const std::string& new_text) {
    const std::string reason =
        refusal(Fault::input, [&] { deserialize(resealed(bytes, old_text, new_text), "m"); });
    EXPECT_TRUE(reason.starts_with("m: is not a valid model: ")) << reason;
  };
  EXPECT_NO_THROW(deserialize(resealed(bytes, "\"seed\":0", "\"seed\":3"), "m"));
  refused("\"features\":3", "\"features\":4");
  refused("\"rows\":6", "\"rows\":7");
  refused("\"count\":3", "\"count\":9");
  refused("\"stored\":3", "\"stored\":2");
  refused("\"offset\":0", "\"offset\":8");
  refused("\"dense\"", "\"dence\"");
  refused("\"hinge\"", "\"hinje\"");
  refused("\"free\"", "\"flee\"");
  refused("\"classes\":[-1.0,1.0]", "\"classes\":[1.0,-1.0]");
  refused("\"seed\":0", "\"seed\":x");
  refused("\"lambda\":0.05", "\"lambda\":-0.5");
  refused("\"index_base\":1", "\"index_base\":2");
}

TEST(ModelFile, NumbersThatAreNotFiniteAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto spoil = {+[](Model& m, double x) { m.outputs[0].w[1] = x; },
                      +[](Model& m, double x) { m.outputs[0].beta[2] = x; },
                      +[](Model& m, double x) { m.outputs[0].certificate.gap = x; },
                      +[](Model& m, double x) { m.outputs[0].certificate.primal = x; },
                      +[](Model& m, double x) { m.outputs[0].b = x; },
                      +[](Model& m, double x) { m.lambda = x; }};
  for (const auto change : spoil) {
    for (const double value : {nan, infinity, -infinity}) {
      Model model = small_model();
      change(model, value);
      refusal(Fault::failure, [&] { serialize(model); });
    }
  }
}

TEST(ModelFile, SavesAndLoads) {
  const Directory directory;
  const Model model = small_model();
  const std::string path = directory.file("a.fenchel");
  save(model, path);
  expect_equal(model, load(path));
  Model other = model;
  other.settings.seed = 5;
  save(other, path);
  expect_equal(other, load(path));
  EXPECT_EQ(directory.entries(), 1);  // no temporary is left
}

TEST(ModelFile, SavingFollowsLinks) {
  const Directory directory;
  const Model model = small_model();
  save(model, directory.file("a"));
  std::filesystem::create_symlink("a", directory.file("link"));
  Model other = model;
  other.settings.seed = 5;
  save(other, directory.file("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory.file("link")));
  EXPECT_EQ(load(directory.file("a")).settings.seed, 5U);
}

TEST(ModelFile, FailedSavesLeaveNothingBehind) {
  const Directory directory;
  const Model model = small_model();
  const std::string path = directory.file("a.fenchel");
  save(model, path);
  const std::string before = content(path);

  const std::string missing = directory.file("no/such/model");
  EXPECT_EQ(refusal(Fault::failure, [&] { save(model, missing); }),
            missing + ": cannot write: No such file or directory");
  EXPECT_EQ(refusal(Fault::failure, [&] { save(model, "/dev/full"); }),
            "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_NO_THROW(save(model, "/dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  refusal(Fault::failure, [&] { save(model, directory.file("")); });

  Model broken = model;
  broken.outputs[0].w[0] = infinity;
  const std::string reason = refusal(Fault::failure, [&] { save(broken, path); });
  EXPECT_TRUE(reason.starts_with(path + ": cannot write: ")) << reason;
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(directory.entries(), 1);
}

TEST(ModelFile, MissingFile) {
  EXPECT_EQ(refusal(Fault::input, [] { load("/no/such/model"); }),
            "/no/such/model: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace fenchel::model
