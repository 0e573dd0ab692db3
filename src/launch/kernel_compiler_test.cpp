#include "launch/kernel_compiler.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

// The conditions are those that the library's loader checks; <elf.h> is used only here, to read what we wrote.
template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<Elf32_Shdr> sections(const std::string& file) {
  const auto header = at<Elf32_Ehdr>(file, 0);
  std::vector<Elf32_Shdr> result;
  for (unsigned i = 0; i < header.e_shnum; ++i)
    result.push_back(at<Elf32_Shdr>(file, header.e_shoff + i * sizeof(Elf32_Shdr)));
  return result;
}

std::string name_of(const std::string& file, const Elf32_Shdr& section) {
  const auto names = sections(file).at(at<Elf32_Ehdr>(file, 0).e_shstrndx);
  return file.data() + names.sh_offset + section.sh_name;
}

void expect_riscv(const std::string& file, int type) {
  const auto header = at<Elf32_Ehdr>(file, 0);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  EXPECT_EQ(header.e_ident[EI_CLASS], ELFCLASS32);
  EXPECT_EQ(header.e_ident[EI_DATA], ELFDATA2LSB);
  EXPECT_EQ(header.e_machine, EM_RISCV);
  EXPECT_EQ(header.e_type, type);
  EXPECT_EQ(header.e_ehsize, sizeof(Elf32_Ehdr));
  EXPECT_EQ(header.e_shentsize, sizeof(Elf32_Shdr));
}

TEST(KernelCompiler, TheObjectIsRelocatable) {
  const std::string file = kernel_object();
  expect_riscv(file, ET_REL);
  ASSERT_EQ(sections(file).size(), 3U);
  EXPECT_EQ(name_of(file, sections(file)[1]), ".text");
}

TEST(KernelCompiler, SegmentsAreLoadedWithoutAGapAndBeginWithTheEntry) {
  const std::string file = kernel_executable();
  expect_riscv(file, ET_EXEC);
  const auto header = at<Elf32_Ehdr>(file, 0);
  ASSERT_EQ(header.e_phnum, 2);
  const auto text = at<Elf32_Phdr>(file, header.e_phoff);
  const auto data = at<Elf32_Phdr>(file, header.e_phoff + sizeof(Elf32_Phdr));
  EXPECT_EQ(text.p_vaddr, header.e_entry);
  EXPECT_EQ(data.p_paddr, text.p_paddr + text.p_memsz);
  for (const Elf32_Phdr& segment : {text, data}) {
    EXPECT_EQ(segment.p_type, static_cast<Elf32_Word>(PT_LOAD));
    EXPECT_EQ(segment.p_offset % 4, 0U);
    EXPECT_EQ(segment.p_vaddr % 4, 0U);
    EXPECT_EQ(segment.p_filesz % 4, 0U);
    EXPECT_LE(segment.p_offset + segment.p_filesz, file.size());
  }
  for (const Elf32_Shdr& section : sections(file)) {
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    EXPECT_TRUE(section.sh_addr == text.p_vaddr || section.sh_addr == data.p_vaddr) << name_of(file, section);
    EXPECT_EQ(section.sh_addralign, 4U);
  }
}

TEST(KernelCompiler, RelocationsFitTheInstructionsTheyChange) {
  const std::string file = kernel_executable();
  const auto all = sections(file);
  const auto rela = std::find_if(all.begin(), all.end(), [](const auto& s) { return s.sh_type == SHT_RELA; });
  ASSERT_NE(rela, all.end());
  const Elf32_Shdr symbols = all.at(rela->sh_link), text = all.at(rela->sh_info);
  ASSERT_EQ(symbols.sh_type, static_cast<Elf32_Word>(SHT_SYMTAB));
  ASSERT_EQ(rela->sh_size, 2 * sizeof(Elf32_Rela));
  const Elf32_Word kinds[] = {R_RISCV_HI20, R_RISCV_LO12_I};
  for (unsigned i = 0; i < 2; ++i) {
    const auto entry = at<Elf32_Rela>(file, rela->sh_offset + i * sizeof(Elf32_Rela));
    EXPECT_EQ(ELF32_R_TYPE(entry.r_info), kinds[i]);
    const auto symbol = at<Elf32_Sym>(file, symbols.sh_offset + ELF32_R_SYM(entry.r_info) * sizeof(Elf32_Sym));
    EXPECT_EQ(symbol.st_value, 0x7000U);
    const auto instruction = at<std::uint32_t>(file, text.sh_offset + (entry.r_offset - text.sh_addr));
    EXPECT_EQ(instruction & 0x7f, i == 0 ? 0x37U : 0x03U);  // lui, lw
    if (i == 0) {
      EXPECT_EQ(instruction & 0xfffff000U, symbol.st_value);
    }
  }
}

TEST(KernelCompiler, OnlyItsOwnNameMakesItACompiler) {
  EXPECT_TRUE(is_kernel_compiler("/a/sfpi/compiler/bin/riscv-tt-elf-g++"));
  EXPECT_TRUE(is_kernel_compiler("riscv-tt-elf-g++"));
  EXPECT_FALSE(is_kernel_compiler("/riscv-tt-elf-g++/opwright"));
  EXPECT_FALSE(is_kernel_compiler("opwright"));
  EXPECT_FALSE(is_kernel_compiler(""));
}

TEST(KernelCompiler, CompilingWritesTheObjectAndItsDependencies) {
  const TestFolder folder;
  const std::string object = folder.file("k.o"), other = folder.file("other.d");
  const char* plain[] = {"-Os", "-MMD", "-c", "-o", object.c_str(), "kernel.cc"};
  EXPECT_EQ(kernel_compiler(plain), 0);
  EXPECT_EQ(content_of(object), kernel_object());
  EXPECT_EQ(content_of(folder.file("k.d")), object + ": kernel.cc\n");
  const char* named[] = {"-c", "-o", object.c_str(), "kernel.cc", "-MF", other.c_str()};
  EXPECT_EQ(kernel_compiler(named), 0);
  EXPECT_EQ(content_of(other), object + ": kernel.cc\n");
}

TEST(KernelCompiler, LinkingWritesTheExecutable) {
  const TestFolder folder;
  const std::string output = folder.file("k.elf");
  const char* args[] = {"-Wl,--emit-relocs", "k.o", "-o", output.c_str()};
  EXPECT_EQ(kernel_compiler(args), 0);
  EXPECT_EQ(content_of(output), kernel_executable());
}

TEST(KernelCompiler, WhatItCannotDoFails) {
  EXPECT_NE(kernel_compiler({}), 0);
  const char* no_folder[] = {"-o", "/no/such/folder/k.elf"};
  EXPECT_NE(kernel_compiler(no_folder), 0);
}

}  // namespace
}  // namespace opwright::launch
