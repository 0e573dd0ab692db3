// A disk for tests that forgets: SQLite's files go through it, every write and sync is noted, and afterwards the files
// can be made as a power failure would have left them. Until a sync has returned, each sector that was written may hold
// what it held before or any of what was written since, whatever became of the others.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/test_folder.h"

namespace opwright::store::sqlite {

class TestDisk {
 public:
  struct Operation {
    enum class Kind { kOpen, kWrite, kTruncate, kSync, kDelete } kind;
    std::string file;  // without its folder
    std::int64_t at = 0;
    std::string bytes;
    bool synced = false;  // a delete that waited for the disk
  };

  // SQLite uses it for every database that is opened from now on, until it goes.
  TestDisk() {
    TestDisk*& active = current();
    EXPECT_EQ(active, nullptr);
    active = this;
    real_ = sqlite3_vfs_find("unix");
    vfs_ = *real_;
    vfs_.zName = "opwright-test-disk";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~TestDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
    current() = nullptr;
  }
  TestDisk(const TestDisk&) = delete;
  TestDisk& operator=(const TestDisk&) = delete;

  const std::vector<Operation>& operations() const { return operations_; }

  // How much of what was not synced is left when the power fails.
  struct Luck {
    std::uint32_t seed = 0;
    double kept = 0.5;           // share of the sectors that were written
    std::size_t sector = 512;    // written whole or not at all
    bool syncs_are_kept = true;  // false: a disk that lies, to see that the test notices
  };

  // The files after the first `count` operations and a power failure.
  std::map<std::string, std::string> after_power_failure(std::size_t count, const Luck& luck) const {
    std::mt19937 random(luck.seed);
    const auto chance = [&](double share) { return static_cast<double>(random()) < share * 4294967296.0; };
    struct Content {
      bool on_disk = false;  // the folder has it
      std::string durable;
      std::vector<const Operation*> pending;  // since the last sync
      bool deleted = false;                   // not synced yet
    };
    std::map<std::string, Content> files;
    for (std::size_t i = 0; i < count; ++i) {
      const Operation& operation = operations_[i];
      Content& file = files[operation.file];
      switch (operation.kind) {
        case Operation::Kind::kOpen:
          if (file.deleted) file = {};  // made again under the same name
          break;
        case Operation::Kind::kWrite:
        case Operation::Kind::kTruncate:
          file.pending.push_back(&operation);
          break;
        case Operation::Kind::kSync:
          if (!luck.syncs_are_kept) break;
          for (const Operation* one : file.pending) apply(file.durable, *one);
          file.pending.clear();
          // SQLite syncs the folder with a journal or log that it made; what was made or deleted in it is there then.
          if (!operation.file.ends_with("-journal") && !operation.file.ends_with("-wal")) break;
          for (auto& [name, other] : files) {
            if (other.deleted) other = {};
            other.on_disk = other.on_disk || &other == &file || !other.durable.empty() || !other.pending.empty();
          }
          break;
        case Operation::Kind::kDelete:
          if (operation.synced && luck.syncs_are_kept)
            file = {};
          else
            file.deleted = true;
          break;
      }
    }
    std::map<std::string, std::string> left;
    for (auto& [name, file] : files) {
      if (!file.on_disk && !chance(luck.kept)) continue;
      if (file.deleted && chance(luck.kept)) continue;
      std::string content = file.durable;
      for (const Operation* one : file.pending) apply_by_luck(content, *one, luck, chance);
      if (file.on_disk || !content.empty()) left[name] = std::move(content);
    }
    return left;
  }

 private:
  struct File {
    sqlite3_file base;
    std::string* name;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static File* of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static TestDisk*& current() {
    static TestDisk* disk = nullptr;
    return disk;
  }
  static void note(const std::string& name, Operation operation) {
    if (current() == nullptr || name.empty()) return;
    operation.file = name;
    current()->operations_.push_back(std::move(operation));
  }

  static void apply(std::string& content, const Operation& operation) {
    const auto at = static_cast<std::size_t>(operation.at);
    if (operation.kind == Operation::Kind::kTruncate) return content.resize(at);
    if (content.size() < at + operation.bytes.size()) content.resize(at + operation.bytes.size());
    content.replace(at, operation.bytes.size(), operation.bytes);
  }
  template <class Chance>
  static void apply_by_luck(std::string& content, const Operation& operation, const Luck& luck, const Chance& chance) {
    if (operation.kind == Operation::Kind::kTruncate) {
      if (chance(luck.kept)) apply(content, operation);
      return;
    }
    const auto begin = static_cast<std::size_t>(operation.at), end = begin + operation.bytes.size();
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = std::min(end, (at / luck.sector + 1) * luck.sector);
      if (chance(luck.kept)) {
        Operation part{Operation::Kind::kWrite, "", static_cast<std::int64_t>(at),
                       operation.bytes.substr(at - begin, next - at)};
        apply(content, part);
      }
      at = next;
    }
  }

  // ---- what SQLite calls

  static int open(sqlite3_vfs*, sqlite3_filename path, sqlite3_file* made, int flags, int* out) {
    static const sqlite3_io_methods methods = table();
    File* file = of(made);
    file->base.pMethods = nullptr;
    const int code = current()->real_->xOpen(current()->real_, path, file->real(), flags, out);
    if (code != SQLITE_OK) return code;
    file->name = new std::string(path != nullptr ? std::filesystem::path(path).filename().string() : "");
    file->base.pMethods = &methods;
    note(*file->name, {Operation::Kind::kOpen, ""});
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs*, const char* path, int sync) {
    const int code = current()->real_->xDelete(current()->real_, path, sync);
    if (code == SQLITE_OK)
      note(std::filesystem::path(path).filename().string(), {Operation::Kind::kDelete, "", 0, "", sync != 0});
    return code;
  }
  static sqlite3_io_methods table() {
    sqlite3_io_methods m{};
    m.iVersion = 2;  // no mapping: every byte is read and written by a call
    m.xClose = [](sqlite3_file* f) {
      const int code = of(f)->real()->pMethods->xClose(of(f)->real());
      delete of(f)->name;
      return code;
    };
    m.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
      return of(f)->real()->pMethods->xRead(of(f)->real(), to, size, at);
    };
    m.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
      note(*of(f)->name, {Operation::Kind::kWrite, "", at,
                          std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))});
      return of(f)->real()->pMethods->xWrite(of(f)->real(), from, size, at);
    };
    m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
      note(*of(f)->name, {Operation::Kind::kTruncate, "", size});
      return of(f)->real()->pMethods->xTruncate(of(f)->real(), size);
    };
    m.xSync = [](sqlite3_file* f, int) {
      note(*of(f)->name, {Operation::Kind::kSync, ""});
      return SQLITE_OK;  // the real disk need not: nobody pulls its plug
    };
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return of(f)->real()->pMethods->xFileSize(of(f)->real(), size);
    };
    m.xLock = [](sqlite3_file* f, int how) { return of(f)->real()->pMethods->xLock(of(f)->real(), how); };
    m.xUnlock = [](sqlite3_file* f, int how) { return of(f)->real()->pMethods->xUnlock(of(f)->real(), how); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
      return of(f)->real()->pMethods->xCheckReservedLock(of(f)->real(), out);
    };
    m.xFileControl = [](sqlite3_file* f, int what, void* value) {
      return of(f)->real()->pMethods->xFileControl(of(f)->real(), what, value);
    };
    m.xSectorSize = [](sqlite3_file*) { return 512; };
    m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };  // nothing is promised
    m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return of(f)->real()->pMethods->xShmMap(of(f)->real(), page, size, extend, out);
    };
    m.xShmLock = [](sqlite3_file* f, int at, int count, int flags) {
      return of(f)->real()->pMethods->xShmLock(of(f)->real(), at, count, flags);
    };
    m.xShmBarrier = [](sqlite3_file* f) { of(f)->real()->pMethods->xShmBarrier(of(f)->real()); };
    m.xShmUnmap = [](sqlite3_file* f, int remove) { return of(f)->real()->pMethods->xShmUnmap(of(f)->real(), remove); };
    return m;
  }

  sqlite3_vfs vfs_{};
  sqlite3_vfs* real_ = nullptr;
  std::vector<Operation> operations_;
};

}  // namespace opwright::store::sqlite
