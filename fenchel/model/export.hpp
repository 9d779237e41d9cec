// Weights for other tools.
//   liblinear  a model file with LIBLINEAR's own meaning: w favours the first entry of `label`; any bias is `bias 1` and a last row;
//              column j is its feature j + 1, whatever the index base of the data was
//   csv        `feature,weight`, or one column a class, indexes counted as in the data; the last row is `bias`
//   json       weights (sparse where that is shorter), bias, classes, loss, penalty, lambda
//   npy        the weights alone as float64, without the bias: (features,), or (outputs, features) for more outputs
// Numbers read back as the same doubles.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fenchel/model/model.hpp"

namespace fenchel::model {

// The names for --format.
std::span<const std::string_view> export_formats();

// The file's bytes. A usage Error where the format is unknown, or cannot hold the model.
std::string export_bytes(const Model& model, std::string_view format);

// Written atomically.
void export_file(const Model& model, std::string_view format, const std::string& path);

}  // namespace fenchel::model
