// The hashes that existing trace files carry, reproduced bit for bit: `config_hash` of era-2 masters in all its
// generations, and the MD5 that era-1 tools deduplicated with.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "base/json.h"

namespace opwright::normalize {

// On main since: G0 2026-02-17, G1 03-17 (normalized), G2 05-02 (non-finite floats as strings), G3 05-26 (Shape
// objects), G4 06-03 (allowed_worker_cores), G5 08-20 (mesh of machine_info).
enum class Generation { kG0, kG1, kG2, kG3, kG4, kG5 };
inline constexpr int kGenerations = 6;
std::string_view name_of(Generation generation);

// `arguments` and `machine_info` (may be null) as they stand in the file.
// `infinities_restored`: "-inf" strings of the file are hashed as the -Infinity that was there before the writer's last
// pass.
std::string config_hash(Generation generation, std::string_view op, const json::Node& arguments,
                        const json::Node* machine_info, bool infinities_restored = false);

// Which generations give `stored` for this configuration.
std::bitset<kGenerations> matching_generations(std::string_view stored, std::string_view op,
                                               const json::Node& arguments, const json::Node* machine_info);

// md5(str(arguments)) of era 1: depends on key order, so it is reproduced only where the file kept it.
std::string era1_signature(const json::Node& arguments);

// "G1/G2" for the set {G1, G2}; "none" for the empty set.
std::string to_text(std::bitset<kGenerations> generations);

}  // namespace opwright::normalize
