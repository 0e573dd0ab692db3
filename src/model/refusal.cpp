#include "model/refusal.h"

namespace opwright {

std::string_view name_of(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::kRule:
      return "rule";
    case Refusal::Kind::kMemory:
      return "memory";
    case Refusal::Kind::kUnsupported:
      return "unsupported";
    case Refusal::Kind::kLost:
      return "lost";
  }
  return "";
}

}  // namespace opwright
