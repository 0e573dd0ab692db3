// SHA-256 over a stream of pieces; equals sha256 of their concatenation.
#pragma once

#include <string_view>

#include "base/hash.h"

namespace opwright {

class StreamSha256 {
 public:
  StreamSha256();
  ~StreamSha256();
  StreamSha256(const StreamSha256&) = delete;
  StreamSha256& operator=(const StreamSha256&) = delete;
  void add(std::string_view piece);
  Sha256 digest();  // once

 private:
  void* state_;
};

}  // namespace opwright
