// Vectors from files: what the existing generator wrote, what we wrote, or one vector a line.
#pragma once

#include <string>

#include "base/result.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

// `path`: a vector file, a file with one vector a line, or a folder with a generation_manifest.json, of which the files
// that the manifest names are read. Everything is read once before the first vector is handed over, so that damaged
// input is an error and never half a suite; memory is that of the largest file (lines: of the longest line).
Status read_vectors(const std::string& path, const UseVector& use);

}  // namespace opwright::vectors
