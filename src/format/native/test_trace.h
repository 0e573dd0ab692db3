// Native traces written by hand, byte for byte as docs/formats/native-trace.md says, and by nothing that the program
// itself uses. For tests only.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/crc32c.h"
#include "capture/layout.h"

namespace opwright::format::testing {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string zigzag(std::int64_t value) {
  return varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}
inline std::string text(std::string_view value) { return varint(value.size()) + std::string(value); }

// Encoded values.
inline std::string none() { return "N"; }
inline std::string boolean(bool value) { return value ? "T" : "F"; }
inline std::string integer(std::int64_t value) { return "i" + zigzag(value); }
inline std::string real(double value) {
  std::string out = "d12345678";
  std::memcpy(out.data() + 1, &value, 8);
  return out;
}
inline std::string string(std::string_view value) { return "s" + text(value); }
inline std::string ref(std::uint32_t id) { return "V" + varint(id); }
inline std::string tensor(std::uint32_t spec) { return "t" + varint(spec); }
inline std::string enumerator(std::string_view type, std::string_view member) {
  return "E" + text(type) + text(member);
}
inline std::string opaque(std::string_view type, std::string_view shown) { return "O" + text(type) + text(shown); }
inline std::string list(const std::vector<std::string>& items, char tag = '[') {
  std::string out = tag + varint(items.size());
  for (const std::string& item : items) out += item;
  return out;
}
inline std::string numbers(std::initializer_list<std::int64_t> items) {
  std::vector<std::string> encoded;
  for (const std::int64_t item : items) encoded.push_back(integer(item));
  return list(encoded);
}
using Named = std::vector<std::pair<std::string, std::string>>;
inline std::string structure(std::string_view type, const Named& fields) {
  std::string out = "S" + text(type) + varint(fields.size());
  for (const auto& [name, value] : fields) out += text(name) + value;
  return out;
}
inline std::string dict(const Named& entries) {
  std::string out = "{" + varint(entries.size());
  for (const auto& [name, value] : entries) out += string(name) + value;
  return out;
}

struct Arg {
  std::uint64_t id, version;
};
struct Ret {
  std::uint64_t id, version, storage = 0, address = 0, view_of = 0;
};
struct Change {
  std::uint32_t slot, spec;
  std::uint64_t version;
};
struct End {
  std::uint32_t error = 0, result = 0;
  std::vector<Ret> tensors = {};
  std::vector<Change> writes = {};
  std::vector<std::uint32_t> frees = {};
  bool thinned = false;
};

// The file under construction. Lanes are written one after the other: lane(n) goes on with a new chunk of lane n.
class TestTrace {
 public:
  explicit TestTrace(std::uint32_t version = capture::kTraceVersion) {
    std::memcpy(header.magic, capture::kMagic, sizeof header.magic);
    header.version = version;
    header.header_size = capture::kHeaderSize;
    header.unit = capture::kUnit;
    header.pid = 4711;
    header.start_unix_ns = 1'700'000'000'000'000'000;
    header.start_ticks = 1'000'000;
    header.state = static_cast<std::uint32_t>(capture::State::kClosed);
    header.ticks_per_second = 1'000'000'000;
    lane(0);
  }

  capture::Header header{};

  void lane(std::uint32_t number, std::uint64_t thread = 100) {
    close_chunk();
    if (number >= lanes_.size()) lanes_.resize(number + 1);
    lane_ = number;
    chunk_ = {};
    chunk_.magic = capture::kChunkMagic;
    chunk_.units = 1;
    chunk_.lane = number;
    chunk_.ordinal = lanes_[number].ordinal++;
    chunk_.base_ticks = ticks_ = lanes_[number].ticks == 0 ? header.start_ticks : lanes_[number].ticks;
    chunk_.base_seq = seq_ = last_seq_;
    chunk_.base_tensor = tensor_ = 7;  // anything: it is in the header
    chunk_.thread = thread;
    chunk_.context = lanes_[number].context;
    open_ = true;
  }
  void next_chunk() { lane(lane_); }

  std::uint32_t value(const std::string& encoded) {
    const std::uint32_t id = ++last_value_;
    record(1, varint(id) + encoded);
    return id;
  }
  std::uint32_t value_at(std::uint32_t id, const std::string& encoded) {
    last_value_ = std::max(last_value_, id);
    record(1, varint(id) + encoded);
    return id;
  }
  void printed(std::uint32_t id, std::string_view shown, bool has_dict = false) {
    record(2, varint(id) + varint(has_dict ? 1 : 0) + std::string(shown));
  }
  // A value with its printed text, as objects of the library have it.
  std::uint32_t shown(const std::string& encoded, std::string_view as, bool has_dict = false) {
    const std::uint32_t id = value(encoded);
    printed(id, as, has_dict);
    return id;
  }
  std::uint32_t call_value(std::string_view op, const std::vector<std::string>& args, const Named& kwargs = {}) {
    const std::uint32_t name = value(string(op));
    std::string out = "C" + varint(name) + varint(args.size());
    for (const std::string& arg : args) out += arg;
    out += varint(kwargs.size());
    for (const auto& [key, arg] : kwargs) out += text(key) + arg;
    return value(out);
  }
  // Returns the call's number.
  std::uint64_t begin(std::uint32_t call, const std::vector<Arg>& tensors = {}, std::uint64_t parent = 0,
                      std::uint64_t after_ticks = 1000) {
    const std::uint64_t number = ++last_seq_;
    std::string out = varint(number - seq_) + varint(after_ticks) + varint(parent == 0 ? 0 : number - parent) +
                      varint(call) + varint(tensors.size());
    for (const Arg& arg : tensors) {
      out += zigzag(static_cast<std::int64_t>(arg.id - tensor_)) + varint(arg.version);
      tensor_ = arg.id;
    }
    seq_ = number;
    ticks_ += after_ticks;
    ++header.calls;
    record(3, out);
    return number;
  }
  void end(std::uint64_t number, const End& how = {}, std::uint64_t after_ticks = 500) {
    std::uint64_t flags = how.thinned ? 16 : 0;
    std::string rest;
    if (how.error != 0) {
      flags |= 1;
      rest += varint(how.error);
    }
    if (how.result != 0) {
      flags |= 2;
      rest += varint(how.result) + varint(how.tensors.size());
      for (const Ret& ret : how.tensors) {
        rest += zigzag(static_cast<std::int64_t>(ret.id - tensor_)) + varint(ret.version) + varint(ret.storage) +
                varint(ret.address) + varint(ret.view_of);
        tensor_ = ret.id;
      }
    }
    if (!how.writes.empty()) {
      flags |= 4;
      rest += varint(how.writes.size());
      for (const Change& write : how.writes) rest += varint(write.slot) + varint(write.spec) + varint(write.version);
    }
    if (!how.frees.empty()) {
      flags |= 8;
      rest += varint(how.frees.size());
      for (const std::uint32_t slot : how.frees) rest += varint(slot);
    }
    ticks_ += after_ticks;
    record(4, varint(seq_ - number) + varint(after_ticks) + varint(flags) + rest);
  }
  std::uint64_t call(std::uint32_t value_id, const std::vector<Arg>& tensors = {}, const End& how = {}) {
    const std::uint64_t number = begin(value_id, tensors);
    end(number, how);
    return number;
  }
  void context(std::uint32_t id) {
    lanes_[lane_].context = id;
    record(6, varint(id));
  }
  void context(const Named& set) { context(value(dict(set))); }
  void fact(std::string_view name, const std::string& encoded) { record(7, text(name) + encoded); }
  void test(std::string_view id, std::string_view outcome) {
    record(8, dict({{"id", string(id)}, {"outcome", string(outcome)}, {"seconds", real(0.5)}}));
  }
  void note(std::string_view kind, std::string_view what) { record(11, text(kind) + text(what)); }

  // Any record, behind its kind byte.
  void record(std::uint8_t kind, const std::string& fields) { raw_record(static_cast<char>(kind) + fields); }
  void raw_record(const std::string& payload) {
    const auto length = static_cast<std::uint32_t>(payload.size());
    const std::uint32_t crc = capture::crc32c(payload.data(), payload.size());
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 4);
    std::memcpy(bytes.data() + 4, &crc, 4);
    bytes += payload;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    const std::size_t unit_end = capture::kUnit * chunk_.units;
    if (sizeof chunk_ + records_.size() + bytes.size() > unit_end) {
      if (sizeof chunk_ + bytes.size() > capture::kUnit)
        chunk_.units =
            static_cast<std::uint32_t>((sizeof chunk_ + records_.size() + bytes.size()) / capture::kUnit + 1);
      else
        overflow_ = true;  // the caller has to say where a chunk ends
    }
    records_ += bytes;
  }
  std::uint64_t room() const { return capture::kUnit * chunk_.units - sizeof chunk_ - records_.size(); }

  // The whole file as it is now. A closed one ends behind its last record, another one has the zeros of its chunk.
  std::string bytes(bool closed = true) const {
    TestTrace done = *this;
    const std::size_t used = done.file_.size() + sizeof chunk_ + records_.size();
    done.close_chunk();
    if (closed) done.file_.resize(used);
    done.header.units = (done.file_.size() + capture::kUnit - 1) / capture::kUnit;
    done.header.header_crc = capture::crc32c(&done.header, offsetof(capture::Header, header_crc));
    std::string page(capture::kHeaderSize, '\0');
    std::memcpy(page.data(), &done.header, sizeof header);
    return overflow_ ? "a chunk of the test is too long" : page + done.file_;
  }

 private:
  struct Lane {
    std::uint64_t ordinal = 0, ticks = 0;
    std::uint32_t context = 0;
  };

  void close_chunk() {
    if (!open_) return;
    open_ = false;
    lanes_[lane_].ticks = ticks_;
    chunk_.crc = capture::crc32c(&chunk_, offsetof(capture::ChunkHeader, crc));
    std::string bytes(sizeof chunk_, '\0');
    std::memcpy(bytes.data(), &chunk_, sizeof chunk_);
    bytes += records_;
    bytes.resize(capture::kUnit * chunk_.units);
    file_ += bytes;
    records_.clear();
  }

  std::vector<Lane> lanes_;
  std::uint32_t lane_ = 0;
  capture::ChunkHeader chunk_{};
  bool open_ = false, overflow_ = false;
  std::string records_, file_;
  std::uint32_t last_value_ = 0;
  std::uint64_t last_seq_ = 0, seq_ = 0, ticks_ = 0, tensor_ = 0;
};

// Values as the ttnn hook writes them.
struct TtnnValues {
  explicit TtnnValues(TestTrace& under_test) : trace(under_test) {}
  TestTrace& trace;

  std::uint32_t enum_value(std::string_view type, std::string_view member) {
    return trace.shown(enumerator(type, member), std::string(type) + "." + std::string(member), true);
  }
  std::uint32_t memory(std::string_view buffer = "DRAM", std::string_view layout = "INTERLEAVED",
                       const std::string& shard = none(), const std::string& nd_shard = none()) {
    const std::uint32_t layout_id = enum_value("TensorMemoryLayout", layout);
    const std::uint32_t buffer_id = enum_value("BufferType", buffer);
    return trace.shown(structure("MemoryConfig", {{"memory_layout", ref(layout_id)},
                                                  {"buffer_type", ref(buffer_id)},
                                                  {"shard_spec", shard},
                                                  {"nd_shard_spec", nd_shard},
                                                  {"is_sharded", boolean(layout != "INTERLEAVED")},
                                                  {"interleaved", boolean(layout == "INTERLEAVED")},
                                                  {"hash", integer(1242192138459492916)}}),
                       "MemoryConfig(…)");
  }
  std::string grid(std::int64_t x, std::int64_t y) {
    const auto coord = [this](std::int64_t cx, std::int64_t cy) {
      return ref(trace.value(structure("CoreCoord", {{"x", integer(cx)}, {"y", integer(cy)}})));
    };
    const std::string start = coord(0, 0), end = coord(x, y);
    const std::uint32_t range = trace.value(structure("CoreRange", {{"start", start}, {"end", end}}));
    return ref(trace.value(structure("CoreRangeSet", {{"ranges", list({ref(range)})}})));
  }
  std::uint32_t device() {
    return trace.shown(structure("MeshDevice", {{"shape", numbers({1, 1})}, {"device_ids", numbers({0})}}),
                       "MeshDevice(1x1 grid, 1 devices)");
  }
  std::uint32_t spec(std::initializer_list<std::int64_t> shape, std::string_view dtype = "BFLOAT16",
                     std::string_view layout = "TILE", std::uint32_t memory_id = 0, const Named& more = {}) {
    if (memory_id == 0) memory_id = memory();
    const std::uint32_t dtype_id = enum_value("DataType", dtype);
    const std::uint32_t layout_id = enum_value("Layout", layout);
    const std::uint32_t storage_id = enum_value("StorageType", "DEVICE");
    const std::uint32_t placement = trace.value(structure("PlacementReplicate", {}));
    const std::uint32_t topology = trace.value(
        structure("TensorTopology", {{"placements", list({ref(placement)})}, {"distribution_shape", numbers({1})}}));
    const std::uint32_t device_id = device();
    Named fields{{"shape", numbers(shape)},   {"padded_shape", numbers(shape)},  {"dtype", ref(dtype_id)},
                 {"layout", ref(layout_id)},  {"storage_type", ref(storage_id)}, {"memory_config", ref(memory_id)},
                 {"topology", ref(topology)}, {"device", ref(device_id)}};
    fields.insert(fields.end(), more.begin(), more.end());
    return trace.value(structure("ttnn.Tensor", fields));
  }
};

}  // namespace opwright::format::testing
