// The native trace on disk, written down once for its writer (capture/) and its reader (format/native/).
// The grammar with its reasons is docs/formats/native-trace.md; numbers here are on disk: add, never renumber.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opwright::capture {

inline constexpr char kMagic[8] = {'O', 'P', 'W', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::size_t kHeaderSize = 4096;  // one page: counters in it are updated while the program runs
inline constexpr std::size_t kUnit = 64 * 1024;   // chunks lie at kHeaderSize + n * kUnit, so a damaged one is skipped
inline constexpr std::uint64_t kChunkMagic = 0x314b4e554843574fULL;  // "OWCHUNK1"

enum class State : std::uint32_t {
  kOpen = 1,     // the program is running, or was killed
  kClosed = 2,   // ended by itself
  kDiskFull = 3  // recording stopped: no space for another chunk; calls after it are counted in calls_lost
};

// The first page. Everything up to `header_crc` is written once; the rest is live and not covered by a CRC, so that it
// is right even after kill -9.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_size;
  std::uint32_t unit;
  std::uint32_t pid;
  std::uint64_t start_unix_ns;
  std::uint64_t start_ticks;
  std::uint32_t reserved;
  std::uint32_t header_crc;  // CRC-32C of the bytes before it
  // live:
  std::uint32_t state;
  std::uint32_t level;  // detail level now: 0 full; see Level
  std::uint64_t ticks_per_second;
  std::uint64_t last_ticks;       // of the last look by the flush thread
  std::uint64_t calls;            // recorded calls
  std::uint64_t calls_filtered;   // left out by --only, --phase, --first
  std::uint64_t calls_lost;       // neither recorded nor filtered: disk full, memory refused, recorder error
  std::uint64_t calls_thinned;    // recorded with less detail because of --max-overhead
  std::uint64_t errors;           // calls that raised
  std::uint64_t values;           // interned values
  std::uint64_t opaque;           // values that could not be read: their class is all there is
  std::uint64_t recorder_ticks;   // spent in the recorder, summed over calls
  std::uint64_t first_sightings;  // calls whose configuration was new
  std::uint64_t units;            // units of the file handed out to chunks
  // Later additions; zero in older files:
  std::uint64_t cut;       // values of which a part, or all but the class, was left out: too large, or data
  char running_test[512];  // UTF-8, cut, ends with a zero: the test that runs now
};
static_assert(sizeof(Header) <= kHeaderSize);

// The beginning of a chunk: a run of records of one lane. A lane is written by one thread at a time.
struct ChunkHeader {
  std::uint64_t magic;
  std::uint32_t units;  // length of the chunk in units, header included
  std::uint32_t lane;
  std::uint64_t ordinal;  // of the chunk in its lane, from 0
  std::uint64_t base_ticks;
  std::uint64_t base_seq;
  std::uint64_t base_tensor;
  std::uint64_t thread;   // the system's id of the thread that began the chunk
  std::uint32_t context;  // value id of the context in force; 0 none
  std::uint32_t crc;      // CRC-32C of the bytes before it
};
static_assert(sizeof(ChunkHeader) == 64);

// Before every payload. A length of 0 ends the chunk.
struct RecordHeader {
  std::uint32_t length;  // of the payload
  std::uint32_t crc;     // CRC-32C of the payload
};
static_assert(sizeof(RecordHeader) == 8);

enum class Record : std::uint8_t {
  kValue = 1,    // id, encoded value
  kText = 2,     // id of a value, flags, the text its owner prints for it
  kBegin = 3,    // a call begins
  kEnd = 4,      // a call ends
  kTensor = 5,   // a tensor seen for the first time, or anew after a change
  kContext = 6,  // the lane's context from here on
  kFact = 7,     // something about the run: name, value
  kTest = 8,     // a test ended: value
  kBlob = 9,     // tensor content: hash, description, raw bytes
  kData = 10,    // what content a tensor of a call had: hash, sketch
  kNote = 11,    // something to be told to the user: kind, text
  kDevice = 12,  // what happened on the device below a call
  kThread = 13,  // from here on the lane is written by another thread
  kCount = 14    // calls of an operation that left no begin: reason, name, total so far
};

// Tags of encoded values: one byte each, letters so that a hex dump can be read.
enum class Tag : char {
  kNull = 'N',
  kTrue = 'T',
  kFalse = 'F',
  kInt = 'i',     // zigzag varint
  kBigInt = 'I',  // decimal text
  kFloat = 'd',   // 8 bytes
  kString = 's',  // text
  kBytes = 'y',   // text
  kList = '[',    // count, values
  kTuple = '(',   // count, values
  kDict = '{',    // count, (value, value)…
  kEnum = 'E',    // type text, member text
  kStruct = 'S',  // type text, count, (field text, value)…
  kOpaque = 'O',  // type text, text
  kTensor = 't',  // value id of its spec
  kRef = 'V',     // value id
  kCall = 'C'     // value id of the operation's name, count, values, count, (name text, value)…
};

// Flags of kEnd.
inline constexpr std::uint64_t kEndError = 1;   // value id of the error
inline constexpr std::uint64_t kEndResult = 2;  // value id of the result's shape, tensors
inline constexpr std::uint64_t kEndWrites = 4;  // arguments whose state changed
inline constexpr std::uint64_t kEndFrees = 8;   // arguments freed
inline constexpr std::uint64_t kEndThinned = 16;
inline constexpr std::uint64_t kEndDirect = 32;  // a function of the library that is no registered operation

// Flags of kText.
inline constexpr std::uint64_t kTextHasDict = 1;  // the Python object has a __dict__ (per-op files write "repr" then)

// Reasons of kCount.
enum class Uncalled : std::uint8_t { kFiltered = 0, kThinned = 1, kLost = 2 };

// Flags of kData.
inline constexpr std::uint64_t kDataResult = 1;  // slot counts the result's tensors, else the arguments'
inline constexpr std::uint64_t kDataAfter = 2;   // state after the call
inline constexpr std::uint64_t kDataHash = 4;    // 16 bytes of content hash follow
inline constexpr std::uint64_t kDataSketch = 8;  // value id of a sketch follows

}  // namespace opwright::capture
