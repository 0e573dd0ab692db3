// A vector as one line of JSON, which says all of it (docs/formats/vectors.md), and back.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

std::string to_line(const TestVector& vector);  // without a newline
Result<TestVector> parse_line(std::string_view line, json::Document& document);
bool looks_like_line(std::string_view start);  // of a file

}  // namespace opwright::vectors
