#include "launch/kernel_compiler.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace opwright::launch {
namespace {

// Part of the library's cache key: change it when the bytes below change, so that an old cache is not used.
constexpr char kVersionLine[] = "riscv-tt-elf-g++ (opwright stand-in, makes no code) 1.0\n";

constexpr std::uint32_t kTextAddress = 0x6000;
constexpr std::uint32_t kDataAddress = 0x7000;
constexpr std::uint32_t kText[] = {
    0x000077b7,  // lui a5, %hi(0x7000)
    0x0007a503,  // lw  a0, %lo(0x7000)(a5)
    0x00008067,  // ret
};
constexpr std::uint32_t kData[] = {1};

// Names of ELF, as far as they are used.
constexpr std::uint16_t kEtRel = 1, kEtExec = 2, kEmRiscv = 243;
constexpr std::uint32_t kPtLoad = 1, kPfX = 1, kPfW = 2, kPfR = 4;
constexpr std::uint32_t kShtProgbits = 1, kShtSymtab = 2, kShtStrtab = 3, kShtRela = 4;
constexpr std::uint32_t kShfWrite = 1, kShfAlloc = 2, kShfExec = 4, kShfInfoLink = 0x40;
constexpr std::uint32_t kRelocHi20 = 26, kRelocLo12I = 27;
constexpr std::uint8_t kGlobalObject = 0x11, kGlobalFunction = 0x12;
constexpr std::uint32_t kHeaderBytes = 52, kProgramHeaderBytes = 32, kSectionHeaderBytes = 40;
constexpr std::uint32_t kSymbolBytes = 16, kRelaBytes = 12;

// Numbers as ELF32 little-endian wants them, whatever this machine is.
class Bytes {
 public:
  void u8(std::uint8_t value) { text_.push_back(static_cast<char>(value)); }
  void u16(std::uint16_t value) {
    u8(static_cast<std::uint8_t>(value));
    u8(static_cast<std::uint8_t>(value >> 8));
  }
  void u32(std::uint32_t value) {
    u16(static_cast<std::uint16_t>(value));
    u16(static_cast<std::uint16_t>(value >> 16));
  }
  void words(std::span<const std::uint32_t> values) {
    for (const std::uint32_t value : values) u32(value);
  }
  void append(const std::string& bytes) { text_ += bytes; }
  void align() { text_.resize((text_.size() + 3) / 4 * 4); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(text_.size()); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct Section {
  std::string name;
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint32_t address = 0;
  std::string content;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint32_t entry_bytes = 0;
};

struct Segment {
  std::size_t section;  // index into the sections, the unnamed first one not counted
  std::uint32_t load_address;
  std::uint32_t flags;
};

// header, program headers, contents of the sections, section headers.
std::string elf_file(std::uint16_t type, std::uint32_t entry, std::vector<Section> sections,
                     std::span<const Segment> segments) {
  std::string names(1, '\0');
  std::vector<std::uint32_t> name_offsets;
  sections.push_back({".shstrtab", kShtStrtab});
  for (const Section& section : sections) {
    name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
    names += section.name + '\0';
  }
  sections.back().content = names;

  const auto segment_count = static_cast<std::uint32_t>(segments.size());
  const auto section_count = static_cast<std::uint32_t>(sections.size());
  const std::uint32_t first_content = kHeaderBytes + segment_count * kProgramHeaderBytes;
  Bytes contents;
  std::vector<std::uint32_t> offsets;
  for (const Section& section : sections) {
    offsets.push_back(first_content + contents.size());
    contents.append(section.content);
    contents.align();
  }

  Bytes file;
  file.append({'\x7f', 'E', 'L', 'F', 1 /* 32 bits */, 1 /* little-endian */, 1 /* version */});
  while (file.size() < 16) file.u8(0);
  file.u16(type);
  file.u16(kEmRiscv);
  file.u32(1);
  file.u32(entry);
  file.u32(segments.empty() ? 0 : kHeaderBytes);
  file.u32(first_content + contents.size());  // the section headers come last
  file.u32(0);                                // soft float, no compressed instructions
  file.u16(kHeaderBytes);
  file.u16(segments.empty() ? 0 : kProgramHeaderBytes);
  file.u16(static_cast<std::uint16_t>(segment_count));
  file.u16(kSectionHeaderBytes);
  file.u16(static_cast<std::uint16_t>(section_count + 1));
  file.u16(static_cast<std::uint16_t>(section_count));  // the names of the sections are the last one
  for (const Segment& segment : segments) {
    const Section& section = sections[segment.section];
    const auto size = static_cast<std::uint32_t>(section.content.size());
    file.words(std::vector<std::uint32_t>{kPtLoad, offsets[segment.section], section.address, segment.load_address,
                                          size, size, segment.flags, 4});
  }
  file.append(contents.take());
  file.append(std::string(kSectionHeaderBytes, '\0'));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const std::uint32_t alignment = section.type == kShtStrtab ? 1 : 4;
    file.words(std::vector<std::uint32_t>{name_offsets[i], section.type, section.flags, section.address, offsets[i],
                                          static_cast<std::uint32_t>(section.content.size()), section.link,
                                          section.info, alignment, section.entry_bytes});
  }
  return file.take();
}

std::string words(std::span<const std::uint32_t> values) {
  Bytes bytes;
  bytes.words(values);
  return bytes.take();
}

std::string symbol(std::uint32_t name, std::uint32_t address, std::uint32_t size, std::uint8_t kind,
                   std::uint16_t section) {
  Bytes bytes;
  bytes.words(std::vector<std::uint32_t>{name, address, size});
  bytes.u8(kind);
  bytes.u8(0);
  bytes.u16(section);
  return bytes.take();
}

bool write_file(const std::string& path, const std::string& content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool written = file >= 0 && write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (file >= 0 && close(file) != 0) written = false;
  if (!written)
    std::fprintf(stderr, "riscv-tt-elf-g++ (opwright stand-in): cannot write %s: %s\n", path.c_str(),
                 std::strerror(errno));
  return written;
}

}  // namespace

std::string kernel_object() {
  return elf_file(kEtRel, 0, {{".text", kShtProgbits, kShfAlloc | kShfExec, 0, words(kText)}}, {});
}

std::string kernel_executable() {
  // The library relocates what it loads and refuses a file without relocations: the lui/lw pair has them.
  // It wants load addresses without a gap, so the data is loaded right behind the text.
  const std::string symbol_names("\0_start\0data\0", 13);
  constexpr std::uint32_t kDataSymbol = 2, kSymtab = 4, kStrtab = 5, kTextSection = 1, kDataSection = 2;
  std::vector<Section> sections{
      {".text", kShtProgbits, kShfAlloc | kShfExec, kTextAddress, words(kText)},
      {".data", kShtProgbits, kShfAlloc | kShfWrite, kDataAddress, words(kData)},
      {".rela.text", kShtRela, kShfInfoLink, 0,
       words(std::vector<std::uint32_t>{kTextAddress, kDataSymbol << 8 | kRelocHi20, 0,  //
                                        kTextAddress + 4, kDataSymbol << 8 | kRelocLo12I, 0}),
       kSymtab, kTextSection, kRelaBytes},
      {".symtab", kShtSymtab, 0, 0,
       std::string(kSymbolBytes, '\0') + symbol(1, kTextAddress, sizeof kText, kGlobalFunction, kTextSection) +
           symbol(8, kDataAddress, sizeof kData, kGlobalObject, kDataSection),
       kStrtab, 1, kSymbolBytes},
      {".strtab", kShtStrtab, 0, 0, symbol_names},
  };
  const Segment segments[] = {{0, kTextAddress, kPfR | kPfX}, {1, kTextAddress + sizeof kText, kPfR | kPfW}};
  return elf_file(kEtExec, kTextAddress, std::move(sections), segments);
}

bool is_kernel_compiler(std::string_view argv0) {
  return argv0.substr(argv0.find_last_of('/') + 1) == kKernelCompilerName;
}

int kernel_compiler(std::span<const char* const> args) {
  std::string output, source, dependencies;
  bool compile_only = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--version") {
      std::fputs(kVersionLine, stdout);
      return 0;
    }
    if (arg == "-c") compile_only = true;
    if (arg == "-o" && i + 1 < args.size())
      output = args[++i];
    else if (arg == "-MF" && i + 1 < args.size())
      dependencies = args[++i];
    else if (arg.ends_with(".cc") || arg.ends_with(".cpp") || arg.ends_with(".S") || arg.ends_with(".c"))
      source = arg;
  }
  if (output.empty()) {
    std::fputs("riscv-tt-elf-g++ (opwright stand-in): no -o FILE; this is not a compiler, see 'opwright help mock'\n",
               stderr);
    return 1;
  }
  if (!compile_only) return write_file(output, kernel_executable()) ? 0 : 1;
  // The library reads the dependencies to know when a kernel is out of date.
  if (dependencies.empty()) dependencies = output.substr(0, output.find_last_of('.')) + ".d";
  return write_file(output, kernel_object()) && write_file(dependencies, output + ": " + source + "\n") ? 0 : 1;
}

}  // namespace opwright::launch
