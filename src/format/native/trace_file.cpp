#include "format/native/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "capture/crc32c.h"

namespace opwright::format {

using capture::ChunkHeader;
using capture::crc32c;
using capture::Header;
using capture::kHeaderSize;
using capture::kUnit;
using capture::RecordHeader;

namespace {

constexpr std::size_t kAlign = 4;    // records begin at multiples of it
constexpr std::size_t kPage = 4096;  // of the mapping that the recorder writes through

bool is_zero(std::string_view bytes) {
  return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

bool is_native_trace(std::string_view start) {
  return start.starts_with(std::string_view(capture::kMagic, sizeof capture::kMagic));
}

Result<NativeFile> NativeFile::open(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  return from_input(std::move(input), path == "-" ? "standard input" : path);
}

Result<NativeFile> NativeFile::from_input(Input&& input, const std::string& shown) {
  NativeFile file(shown);
  // What is no trace is told by its first bytes, however large it is.
  OPWRIGHT_TRY_ASSIGN(file.bytes_, input.peek(sizeof capture::kMagic));
  if (!is_native_trace(file.bytes_)) return fail(file.check_header().error());
  OPWRIGHT_TRY_ASSIGN(file.mapped_, std::move(input).read_all(Input::Changes::kAllowed));
  file.bytes_ = file.mapped_.view();
  OPWRIGHT_TRY(file.check_header());
  file.find_chunks();
  return file;
}

Result<NativeFile> NativeFile::from_text(std::string bytes, const std::string& shown) {
  NativeFile file(shown);
  // A copy of its own on the heap: a short string would move with the object.
  if (bytes.size() < kHeaderSize) bytes.reserve(kHeaderSize);
  file.owned_ = std::move(bytes);
  file.bytes_ = file.owned_;
  OPWRIGHT_TRY(file.check_header());
  file.find_chunks();
  return file;
}

Result<NativeFile> NativeFile::from_view(std::string_view bytes, const std::string& shown, Passed passed) {
  NativeFile file(shown);
  file.passed_ = std::move(passed);
  file.bytes_ = bytes;
  OPWRIGHT_TRY(file.check_header());
  file.find_chunks();
  return file;
}

Status NativeFile::check_header() {
  if (!is_native_trace(bytes_))
    return fail(ErrorCode::kNotATrace, fmt::format("{}: not a native trace (it does not begin with OPWTRACE)", path_));
  if (bytes_.size() < offsetof(Header, state)) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: cut inside its first page ({} bytes); there are no calls in it",
                                                  path_, bytes_.size()));
  }
  std::memcpy(&header_, bytes_.data(), std::min(sizeof header_, bytes_.size()));
  // The version comes first: a later one may have another header altogether.
  if (header_.version > capture::kTraceVersion) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: a native trace of version {}, this build reads up to {}; read it with a newer opwright", path_,
                    header_.version, capture::kTraceVersion));
  }
  if (crc32c(bytes_.data(), offsetof(Header, header_crc)) != header_.header_crc || header_.version == 0 ||
      header_.header_size != kHeaderSize || header_.unit != kUnit) {
    return fail(
        ErrorCode::kBadInput,
        fmt::format("{}: the first page of the trace is damaged (its checksum is wrong); get the file again", path_));
  }
  // Counts that no program reaches are damage; sums of the others do not overflow.
  for (std::uint64_t* count : {&header_.calls, &header_.calls_filtered, &header_.calls_lost, &header_.calls_thinned,
                               &header_.errors, &header_.values, &header_.opaque}) {
    if (*count <= kMostCounted) continue;
    damage_.add("damaged_record", 0, [&] { return fmt::format("the first page counts {} of something", *count); });
    *count = 0;
  }
  return {};
}

void NativeFile::find_chunks() {
  if (bytes_.size() < kHeaderSize)
    damage_.add("cut_input", bytes_.size(), [] { return "the file ends inside its first page"; });
  // While the program runs, and when it was killed, the file is as long as what was reserved.
  else if (header_.state == static_cast<std::uint32_t>(capture::State::kOpen) &&
           header_.units > (bytes_.size() - kHeaderSize) / kUnit)
    damage_.add("cut_input", bytes_.size(), [this] {
      return fmt::format("the file has {} of its {} parts; what is there is read",
                         (bytes_.size() - kHeaderSize) / kUnit, header_.units);
    });
  for (std::size_t at = kHeaderSize; at < bytes_.size();) {
    const std::string_view rest = bytes_.substr(at);
    if (is_zero(rest.substr(0, sizeof(ChunkHeader)))) {  // reserved, never used
      at += kUnit;
      continue;
    }
    Chunk chunk{};
    if (rest.size() < sizeof(ChunkHeader)) {
      damage_.add("cut_input", bytes_.size(), [] { return "the file ends inside the header of a chunk"; });
      break;
    }
    std::memcpy(&chunk.header, rest.data(), sizeof(ChunkHeader));
    if (chunk.header.magic != capture::kChunkMagic || chunk.header.units == 0 ||
        crc32c(rest.data(), offsetof(ChunkHeader, crc)) != chunk.header.crc) {
      damage_.add("damaged_chunk", at, [&] {
        return fmt::format("the header of a chunk is damaged; the search goes on {} bytes later", kUnit);
      });
      at += kUnit;
      continue;
    }
    const std::uint64_t size = static_cast<std::uint64_t>(chunk.header.units) * kUnit;
    const bool reaches_end = size >= rest.size();
    const std::size_t end = reaches_end ? bytes_.size() : at + static_cast<std::size_t>(size);
    chunk.offset = at + sizeof(ChunkHeader);
    check_records(chunk, end, size > rest.size());
    chunks_.push_back(chunk);
    if (passed_) passed_(chunk.end);
    // A damaged chunk of several units may be one whose length was wrong all along: chunks behind it are looked for
    // inside it too. Its own bytes hardly look like a chunk with a right checksum.
    at = chunk.damaged ? at + kUnit : end;
    if (!chunk.damaged && reaches_end) break;
  }
  std::stable_sort(chunks_.begin(), chunks_.end(), [](const Chunk& a, const Chunk& b) {
    return a.header.lane != b.header.lane ? a.header.lane < b.header.lane : a.header.ordinal < b.header.ordinal;
  });
  check_lanes();
}

// Walks the records of a chunk up to the first that is not sound. `to_file_end`: the chunk goes on behind the file.
void NativeFile::check_records(Chunk& chunk, std::size_t end, bool to_file_end) {
  std::size_t at = chunk.offset;
  chunk.end = at;
  while (at + sizeof(RecordHeader) <= end) {
    RecordHeader record;
    std::memcpy(&record, bytes_.data() + at, sizeof record);
    if (record.length == 0) {
      // The end, unless pages behind it were written: a power failure keeps pages of the file in any order.
      const std::size_t next_page = std::min(end, at / kPage * kPage + kPage);
      if (is_zero(bytes_.substr(next_page, end - next_page))) return;
      chunk.damaged = true;
      damage_.add("damaged_record", at, [] { return "a part of a chunk is empty; the rest of the chunk is lost"; });
      return;
    }
    const std::size_t payload = at + sizeof record;
    if (record.length > end - payload) {
      chunk.damaged = true;
      if (to_file_end)
        damage_.add("cut_input", at, [] { return "the file ends inside a record; what came before it is read"; });
      else
        damage_.add("damaged_record", at, [] { return "a record leaves its chunk; the rest of the chunk is lost"; });
      return;
    }
    if (crc32c(bytes_.data() + payload, record.length) != record.crc) {
      chunk.damaged = true;
      damage_.add("damaged_record", at,
                  [] { return "the checksum of a record is wrong; the rest of its chunk is lost"; });
      return;
    }
    at = payload + (record.length + (kAlign - 1)) / kAlign * kAlign;
    chunk.end = std::min(at, end);
    if (at >= end) return;
  }
  if (at < end && !is_zero(bytes_.substr(at, end - at))) {
    chunk.damaged = true;
    damage_.add("cut_input", at, [] { return "the file ends inside a record; what came before it is read"; });
  }
}

// Chunks of a lane are numbered without gaps, so one that is missing shows.
void NativeFile::check_lanes() {
  std::vector<Chunk> kept;
  kept.reserve(chunks_.size());
  for (Chunk& chunk : chunks_) {
    const bool same_lane = !kept.empty() && kept.back().header.lane == chunk.header.lane;
    const std::uint64_t expected = same_lane ? kept.back().header.ordinal + 1 : 0;
    if (same_lane && chunk.header.ordinal < expected) {
      damage_.add("damaged_chunk", chunk.offset, [&] {
        return fmt::format("chunk {} of lane {} is there twice; the first one is taken", chunk.header.ordinal,
                           chunk.header.lane);
      });
      continue;
    }
    if (chunk.header.ordinal > expected) {
      damage_.add("missing_chunk", chunk.offset, [&] {
        return fmt::format("lane {} goes on with chunk {} where {} is expected", chunk.header.lane,
                           chunk.header.ordinal, expected);
      });
    }
    kept.push_back(chunk);
  }
  chunks_ = std::move(kept);
}

RecordView NativeFile::record_at(std::size_t& at) const {
  RecordHeader record;
  std::memcpy(&record, bytes_.data() + at, sizeof record);
  const std::size_t offset = at;
  const std::string_view payload = bytes_.substr(at + sizeof record, record.length);
  at += sizeof record + (record.length + (kAlign - 1)) / kAlign * kAlign;
  return {static_cast<capture::Record>(payload.front()), payload.substr(1), offset};
}

}  // namespace opwright::format
