// A reader of native traces for the recorder's own tests: small, strict, and written apart from format/native.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/crc32c.h"
#include "capture/layout.h"

namespace opwright::capture::testing {

struct Cursor {
  std::string_view bytes;
  bool ok = true;
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) {
        ok = false;
        return 0;
      }
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok = false;
    return 0;
  }
  std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text() {
    const std::uint64_t size = varint();
    if (size > bytes.size()) {
      ok = false;
      return {};
    }
    std::string text(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return text;
  }
};

struct Call {
  std::uint64_t seq = 0, parent = 0, value = 0, began = 0, ended = 0, error = 0, result = 0, flags = 0, thread = 0;
  std::uint64_t context = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tensors;
  std::vector<std::uint64_t> results, frees, writes;
  bool finished = false;
};

struct Scanned {
  Header header{};
  std::map<std::uint64_t, std::string> values, texts;
  std::map<std::uint64_t, Call> calls;
  std::map<std::string, std::string> facts;
  std::vector<std::pair<std::string, std::string>> notes;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> counts;  // (reason, operation) -> calls
  std::size_t blobs = 0, data = 0, tests = 0, tensors = 0, chunks = 0, devices = 0;
  std::size_t damaged = 0;  // records or chunk headers that are not what they should be
};

inline void scan_record(std::string_view payload, Scanned& out, std::uint64_t& seq, std::uint64_t& ticks,
                        std::uint64_t& tensor, std::uint64_t& thread, std::uint64_t& context) {
  const auto kind = static_cast<Record>(payload.front());
  Cursor in{payload.substr(1)};
  switch (kind) {
    case Record::kValue: {
      const std::uint64_t id = in.varint();
      out.values[id] = std::string(in.bytes);
      break;
    }
    case Record::kText: {
      const std::uint64_t id = in.varint();
      in.varint();
      out.texts[id] = std::string(in.bytes);
      break;
    }
    case Record::kBegin: {
      Call call;
      seq += in.varint();
      ticks += in.varint();
      call.seq = seq;
      call.began = ticks;
      if (const std::uint64_t distance = in.varint(); distance != 0) call.parent = seq - distance;
      call.value = in.varint();
      for (std::uint64_t n = in.varint(); n > 0 && in.ok; --n) {
        tensor += static_cast<std::uint64_t>(in.zigzag());
        const std::uint64_t version = in.varint();
        call.tensors.emplace_back(tensor, version);
      }
      call.thread = thread;
      call.context = context;
      if (!in.ok || !in.bytes.empty() || out.calls.count(call.seq) != 0) ++out.damaged;
      out.calls[call.seq] = call;
      break;
    }
    case Record::kEnd: {
      Call& call = out.calls[seq - in.varint()];
      ticks += in.varint();
      call.ended = ticks;
      call.flags = in.varint();
      if ((call.flags & kEndError) != 0) call.error = in.varint();
      if ((call.flags & kEndResult) != 0) {
        call.result = in.varint();
        for (std::uint64_t n = in.varint(); n > 0 && in.ok; --n) {
          tensor += static_cast<std::uint64_t>(in.zigzag());
          call.results.push_back(tensor);
          for (int i = 0; i < 4; ++i) in.varint();
        }
      }
      if ((call.flags & kEndWrites) != 0) {
        for (std::uint64_t n = in.varint(); n > 0 && in.ok; --n) {
          call.writes.push_back(in.varint());
          in.varint();
          in.varint();
        }
      }
      if ((call.flags & kEndFrees) != 0) {
        for (std::uint64_t n = in.varint(); n > 0 && in.ok; --n) call.frees.push_back(in.varint());
      }
      call.finished = true;
      if (!in.ok || !in.bytes.empty() || call.seq == 0) ++out.damaged;
      break;
    }
    case Record::kTensor:
      ++out.tensors;
      break;
    case Record::kContext:
      context = in.varint();
      break;
    case Record::kFact: {
      const std::string name = in.text();
      out.facts[name] = std::string(in.bytes);
      break;
    }
    case Record::kTest:
      ++out.tests;
      break;
    case Record::kBlob:
      ++out.blobs;
      break;
    case Record::kData:
      ++out.data;
      break;
    case Record::kNote: {
      const std::string what = in.text();
      out.notes.emplace_back(what, in.text());
      break;
    }
    case Record::kDevice:
      ++out.devices;
      break;
    case Record::kThread:
      thread = in.varint();
      break;
    case Record::kCount: {
      const std::uint64_t reason = in.varint();
      const std::uint64_t op = in.varint();
      out.counts[{reason, op}] = in.varint();
      break;
    }
    default:
      ++out.damaged;
  }
}

inline Scanned scan(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  Scanned out;
  if (all.size() < kHeaderSize) {
    ++out.damaged;
    return out;
  }
  std::memcpy(&out.header, all.data(), sizeof out.header);
  if (std::memcmp(out.header.magic, kMagic, 8) != 0 ||
      crc32c(all.data(), offsetof(Header, header_crc)) != out.header.header_crc) {
    ++out.damaged;
  }
  // Chunks of a lane need not lie in the file in their order: by lane and ordinal.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> chunks;
  for (std::size_t at = kHeaderSize; at + sizeof(ChunkHeader) <= all.size();) {
    ChunkHeader chunk;
    std::memcpy(&chunk, all.data() + at, sizeof chunk);
    if (chunk.magic == 0) {
      at += kUnit;
      continue;
    }
    if (chunk.magic != kChunkMagic || crc32c(&chunk, offsetof(ChunkHeader, crc)) != chunk.crc) {
      ++out.damaged;
      at += kUnit;
      continue;
    }
    chunks[{chunk.lane, chunk.ordinal}] = at;
    at += chunk.units * kUnit;
  }
  out.chunks = chunks.size();
  for (const auto& [order, at] : chunks) {
    ChunkHeader chunk;
    std::memcpy(&chunk, all.data() + at, sizeof chunk);
    std::uint64_t seq = chunk.base_seq, ticks = chunk.base_ticks, tensor = chunk.base_tensor, thread = chunk.thread,
                  context = chunk.context;
    const std::size_t end = std::min(all.size(), at + chunk.units * kUnit);
    for (std::size_t record = at + sizeof chunk; record + sizeof(RecordHeader) <= end;) {
      RecordHeader header;
      std::memcpy(&header, all.data() + record, sizeof header);
      if (header.length == 0) break;
      if (record + sizeof header + header.length > end) {
        ++out.damaged;
        break;
      }
      const std::string_view payload(all.data() + record + sizeof header, header.length);
      if (crc32c(payload.data(), payload.size()) != header.crc) {
        ++out.damaged;
        break;
      }
      scan_record(payload, out, seq, ticks, tensor, thread, context);
      record += (sizeof header + header.length + 3) & ~std::size_t{3};
    }
  }
  return out;
}

}  // namespace opwright::capture::testing
