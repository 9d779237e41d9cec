// The sentence of the Error that something must end with.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"

namespace fenchel::test {

// Fails, and gives nothing, where there is no error.
template <class Act>
std::string refusal(Fault fault, Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace fenchel::test
