#include "capture/content.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

#include "capture/sketch.h"

namespace opwright::capture {

namespace {

void describe(const Content& content, Encoder& out) {
  out.structure("data", 2);
  out.field("dtype");
  out.string(content.dtype);
  out.field("shape");
  out.list(content.shape.size());
  for (const std::int64_t dim : content.shape) out.integer(dim);
}

}  // namespace

void record_content(Recorder& recorder, const Content& content, unsigned what) {
  if (recorder.level() >= Level::kNoData || content.elements == nullptr) return;
  const std::size_t size = element_size(content.dtype);
  if (size == 0) {
    recorder.note("content", "content of type " + std::string(content.dtype) + " cannot be recorded");
    return;
  }
  Encoder record;
  record.record(Record::kData);
  record.varint(content.seq);
  record.varint(content.slot);
  std::uint64_t flags = content.flags;
  Sketch drawn;
  const bool has_sketch =
      (what & OPWRIGHT_SKETCH) != 0 && sketch(content.dtype, content.elements, content.count, drawn);
  const bool has_hash = (what & (OPWRIGHT_HASH | OPWRIGHT_CONTENT)) != 0;
  if (has_hash) flags |= kDataHash;
  if (has_sketch) flags |= kDataSketch;
  record.varint(flags);
  if (has_hash) {
    const std::string_view bytes(static_cast<const char*>(content.elements), content.count * size);
    XXH128_canonical_t canonical;
    // The same bytes as another type or shape are another content.
    Encoder description;
    describe(content, description);
    const XXH64_hash_t seed = XXH3_64bits(description.view().data(), description.size());
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed));
    std::array<unsigned char, 16> hash{};
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), hash.begin());
    if ((what & OPWRIGHT_CONTENT) != 0 && !recorder.has_blob(hash)) {
      recorder.blob(hash, recorder.intern(description.view()), bytes);
    }
    record.raw(hash.data(), hash.size());
  }
  if (has_sketch) {
    Encoder encoded;
    encode(drawn, encoded);
    record.varint(recorder.intern(encoded.view()));
  }
  recorder.append(record.view());
}

}  // namespace opwright::capture
