// What a trace says about one configuration, before anything is understood of it: readers produce it, normalize/ turns
// it into an OpConfig, the store keeps its text so that nothing is ever lost to our own understanding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

namespace json {
struct Node;
}

// How the argument text of a form is written. Numbers are on disk: add at the end, never renumber.
enum class FormKind : std::uint8_t {
  kEra1 = 1,      // JSON array of {"argN": …} / {"UnparsedElement": …}
  kEra2 = 2,      // JSON object {"arg0": …, "memory_config": …}
  kOpJsonl = 3,   // JSON object {"inputs": […], "kwargs": {…}}
  kGraph = 4,     // JSON array of C++ reflection strings
  kPythonIo = 5,  // JSON object {"0": text, "dtype": text} of a graph report's Python record
  kNative = 6  // a call of a native trace: as kEra2, with what the existing tracer leaves out (docs/formats/store.md)
};

// Whether the text is what the `arguments` of an era-2 master are: it can stand there, foreign hashes are taken over
// it, and one text under two such kinds is one form.
constexpr bool is_era2_text(FormKind kind) { return kind == FormKind::kEra2 || kind == FormKind::kNative; }

inline constexpr std::int64_t kUncounted = -1;

// Field of a sighting's `extra` that belongs to the configuration of the file: the machine its hash was taken over.
inline constexpr std::string_view kTracedMachine = "@traced_machine_info";

// One line of provenance: where a configuration was seen and how often. Texts point into the reader's memory.
struct Sighting {
  std::string_view source;     // test or script as the trace names it; "" unknown
  std::string_view machine;    // machine_info as minified JSON; "" unknown
  std::string_view trace_uid;  // "" when the trace has none: the importer then uses the content's digest
  std::string_view extra;      // other fields of the execution as minified JSON object; "" none
  std::int64_t count = kUncounted;
  std::int64_t raised = 0;  // how many of `count` raised
  std::string_view error;   // one example: "RuntimeError: …"; "" none
};

struct Observed {
  FormKind kind = FormKind::kEra2;
  std::string_view op;               // as the trace spells it
  std::string_view arguments;        // JSON text, white space allowed
  const json::Node* tree = nullptr;  // the same as a tree, where the reader has one: then the text is not parsed
  std::string_view config_hash;      // as stored in the file; "" none
  std::string_view sweep_source_hash;
  std::string_view hashed_machine;  // machine_info (JSON) the hash was taken over, where the file names it apart
  std::vector<Sighting> sightings;  // at least one
  std::string_view path;            // file, for messages
  std::size_t offset = 0;           // byte of the record in the (decompressed) file
};

// What a trace says about itself.
struct TraceInfo {
  std::string uid;  // "" when it has none
  std::string format;
  std::string path;
  std::string only_source;  // where all its sightings come from that name no source; "" when it does not say
  std::vector<std::pair<std::string, std::string>> facts;  // timestamp, tt_kmd, pytest_args, … as texts
};

}  // namespace opwright
