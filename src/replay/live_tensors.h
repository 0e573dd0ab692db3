// The tensors that are there between two calls of a replay: whose memory each lies in, what it holds, what it takes.
//
// Tensors that share a storage (views, results of calls that write in place) share its content: who writes one writes
// all. A storage ends when a call frees it, or when the last of its tensors is retired. A tensor may be declared before
// anybody has made its content.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/host_tensor.h"
#include "replay/held_bytes.h"

namespace opwright::replay {

// Where the values of a tensor come from.
enum class Origin : std::uint8_t {
  kComputed,  // by a call of this replay
  kRecorded,  // the trace holds the contents
  kSketch,    // made alike: the trace says range and quantiles
  kRecipe,    // made by the recipe of the operator that takes it
};
std::string_view name_of(Origin origin);  // "computed", …

// Who carries a content on shares its values: nobody changes them, a tensor that is written gets others.
struct Content {
  DType dtype = DType::kAbsent;
  std::int64_t count = 0;                    // of elements
  std::shared_ptr<const Packed> device;      // what the device has
  std::shared_ptr<const ChainValues> chain;  // where a chain of references from the start has others; null: the same
  Origin origin = Origin::kComputed;
  bool faithful = false;  // made of what was recorded alone, so that a recorded result can be compared with it
};
Content content_of(Values values, const TensorSpec& spec, Origin origin, HeldBytes& held);

struct LiveBytes {
  std::int64_t dram = 0;
  std::int64_t l1 = 0;
};

class LiveTensors {
 public:
  // A new tensor. It shares the storage of `view_of`, or the storage with that number, where one is alive and holds as
  // many elements of the dtype; 0 names none. A tensor that is known already is left as it is.
  void declare(std::uint64_t id, const TensorSpec& spec, std::uint64_t storage = 0, std::uint64_t view_of = 0);
  bool knows(std::uint64_t id) const { return tensors_.contains(id); }
  bool share(std::uint64_t a, std::uint64_t b) const;  // one storage
  // Its content; null: nobody has made it, or it is not known.
  Content* content(std::uint64_t id);
  // Sets the content of its storage, which all that share it see. False where it is not known.
  bool write(std::uint64_t id, Content content);
  // Its memory is given back, whoever shares it.
  void free(std::uint64_t id);
  // Nobody will ask for it again. The last of those that share a storage ends it.
  void retire(std::uint64_t id);

  // What tensors on the device take now, and the most of each memory that they ever took.
  const LiveBytes& live() const { return live_; }
  const LiveBytes& peak() const { return peak_; }
  std::size_t size() const { return tensors_.size(); }
  std::int64_t copied_views() const { return copied_views_; }  // that show another number of elements: not shared

 private:
  struct Storage {
    std::uint64_t number = 0;  // as recorded; 0 none
    DType dtype = DType::kAbsent;
    std::int64_t count = 0;
    LiveBytes bytes;
    std::optional<Content> content;
    std::vector<std::uint64_t> tensors;
  };
  std::size_t make_storage(const TensorSpec& spec, std::uint64_t number);
  void end(std::size_t place);

  std::unordered_map<std::uint64_t, std::size_t> tensors_;    // id -> storage
  std::unordered_map<std::uint64_t, std::size_t> by_number_;  // recorded number -> storage
  std::vector<Storage> storages_;
  std::vector<std::size_t> unused_;
  LiveBytes live_, peak_;
  std::int64_t copied_views_ = 0;
};

// What a tensor takes of the device's memories: its pages. Nothing for one on the host.
LiveBytes bytes_of(const TensorSpec& spec);

}  // namespace opwright::replay
