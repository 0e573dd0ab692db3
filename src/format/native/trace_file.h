// The frame of a native trace: header page, chunks, records with their CRCs (docs/formats/native-trace.md).
//
//   auto file = NativeFile::open(path);            // or from_text() for bytes at hand
//   for (const NativeFile::Chunk& chunk : file->chunks()) file->for_each_record(chunk, [&](RecordView record) { … });
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "base/result.h"
#include "capture/layout.h"
#include "format/native/trace_damage.h"

namespace opwright::format {

// Whether a file begins as a native trace does.
bool is_native_trace(std::string_view start);

// More than any program can do: a count beyond it is damage.
inline constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 48;

struct RecordView {
  capture::Record kind;
  std::string_view payload;  // behind the kind byte
  std::size_t offset;        // of the record in the file
};

class NativeFile {
 public:
  struct Chunk {
    capture::ChunkHeader header;
    std::size_t offset;  // of its first record
    std::size_t end;     // behind its last sound record
    bool damaged;        // records behind `end` are lost
  };

  // Refuses what is no native trace, of a later version, or has a damaged first page. Anything else is read as far as
  // it goes; what is lost is in damage(). `shown` is the path for messages.
  static Result<NativeFile> open(const std::string& path);
  static Result<NativeFile> from_input(Input&& input, const std::string& shown);
  static Result<NativeFile> from_text(std::string bytes, const std::string& shown);
  // Of bytes that outlive it. `passed` hears how far a walk through them has come: what lies before may leave memory,
  // and is read again when it is asked for.
  using Passed = std::function<void(std::size_t end)>;
  static Result<NativeFile> from_view(std::string_view bytes, const std::string& shown, Passed passed = {});

  const std::string& path() const { return path_; }
  const capture::Header& header() const { return header_; }
  std::string_view bytes() const { return bytes_; }
  const Passed& passed() const { return passed_; }
  // Sorted by lane, then by ordinal.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  const TraceDamage& damage() const { return damage_; }

  // Records of a chunk, already known to be sound.
  template <class F>
  void for_each_record(const Chunk& chunk, F&& visit) const {
    for (std::size_t at = chunk.offset; at < chunk.end;) visit(record_at(at));
    if (passed_) passed_(chunk.end);
  }
  // The record at `at`; moves behind it.
  RecordView record_at(std::size_t& at) const;

 private:
  NativeFile(std::string path) : path_(std::move(path)) {}  // NOLINT(google-explicit-constructor): private
  Status check_header();
  void find_chunks();
  void check_records(Chunk& chunk, std::size_t end, bool to_file_end);
  void check_lanes();

  std::string path_;
  Text mapped_;
  std::string owned_;
  std::string_view bytes_;
  Passed passed_;
  capture::Header header_{};
  std::vector<Chunk> chunks_;
  TraceDamage damage_;
};

}  // namespace opwright::format
