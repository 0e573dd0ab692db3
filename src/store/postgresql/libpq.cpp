// libpq, loaded when a store on a server is first named: a program that never does so starts without it, and without
// the dozen libraries that it needs, and runs where it is not installed.
//
// The functions of libpq-fe.h that we call are defined here, and hand on to those of the library.
#include "store/postgresql/libpq.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#include "base/broken.h"

namespace opwright::store::postgresql {
namespace {

void* library() {
  static void* const kLibrary = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  return kLibrary;
}

template <class Function>
Function* function(const char* name) {
  void* found = library() != nullptr ? dlsym(library(), name) : nullptr;
  if (found == nullptr) broken(name);  // is_there() was asked before
  return reinterpret_cast<Function*>(found);
}

}  // namespace

// Pipelines came last of what we need: libpq 14 and later.
bool libpq_is_there() { return library() != nullptr && dlsym(library(), "PQenterPipelineMode") != nullptr; }

}  // namespace opwright::store::postgresql

using opwright::store::postgresql::function;

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
PGconn* PQconnectdbParams(const char* const* keywords, const char* const* values, int expand) {
  static auto* const kIts = function<decltype(PQconnectdbParams)>("PQconnectdbParams");
  return kIts(keywords, values, expand);
}
PGconn* PQconnectdb(const char* url) {
  static auto* const kIts = function<decltype(PQconnectdb)>("PQconnectdb");
  return kIts(url);
}
void PQfinish(PGconn* connection) {
  static auto* const kIts = function<decltype(PQfinish)>("PQfinish");
  return kIts(connection);
}
PQconninfoOption* PQconninfoParse(const char* url, char** problem) {
  static auto* const kIts = function<decltype(PQconninfoParse)>("PQconninfoParse");
  return kIts(url, problem);
}
void PQconninfoFree(PQconninfoOption* options) {
  static auto* const kIts = function<decltype(PQconninfoFree)>("PQconninfoFree");
  return kIts(options);
}
void PQfreemem(void* memory) {
  static auto* const kIts = function<decltype(PQfreemem)>("PQfreemem");
  return kIts(memory);
}
int PQlibVersion() {
  static auto* const kIts = function<decltype(PQlibVersion)>("PQlibVersion");
  return kIts();
}
ConnStatusType PQstatus(const PGconn* connection) {
  static auto* const kIts = function<decltype(PQstatus)>("PQstatus");
  return kIts(connection);
}
PGTransactionStatusType PQtransactionStatus(const PGconn* connection) {
  static auto* const kIts = function<decltype(PQtransactionStatus)>("PQtransactionStatus");
  return kIts(connection);
}
char* PQerrorMessage(const PGconn* connection) {
  static auto* const kIts = function<decltype(PQerrorMessage)>("PQerrorMessage");
  return kIts(connection);
}
PQnoticeProcessor PQsetNoticeProcessor(PGconn* connection, PQnoticeProcessor use, void* argument) {
  static auto* const kIts = function<decltype(PQsetNoticeProcessor)>("PQsetNoticeProcessor");
  return kIts(connection, use, argument);
}
PGresult* PQexec(PGconn* connection, const char* sql) {
  static auto* const kIts = function<decltype(PQexec)>("PQexec");
  return kIts(connection, sql);
}
PGresult* PQexecParams(PGconn* connection, const char* sql, int count, const Oid* types, const char* const* values,
                       const int* sizes, const int* formats, int format) {
  static auto* const kIts = function<decltype(PQexecParams)>("PQexecParams");
  return kIts(connection, sql, count, types, values, sizes, formats, format);
}
PGresult* PQprepare(PGconn* connection, const char* name, const char* sql, int count, const Oid* types) {
  static auto* const kIts = function<decltype(PQprepare)>("PQprepare");
  return kIts(connection, name, sql, count, types);
}
PGresult* PQexecPrepared(PGconn* connection, const char* name, int count, const char* const* values, const int* sizes,
                         const int* formats, int format) {
  static auto* const kIts = function<decltype(PQexecPrepared)>("PQexecPrepared");
  return kIts(connection, name, count, values, sizes, formats, format);
}
int PQsendQueryPrepared(PGconn* connection, const char* name, int count, const char* const* values, const int* sizes,
                        const int* formats, int format) {
  static auto* const kIts = function<decltype(PQsendQueryPrepared)>("PQsendQueryPrepared");
  return kIts(connection, name, count, values, sizes, formats, format);
}
PGresult* PQgetResult(PGconn* connection) {
  static auto* const kIts = function<decltype(PQgetResult)>("PQgetResult");
  return kIts(connection);
}
int PQenterPipelineMode(PGconn* connection) {
  static auto* const kIts = function<decltype(PQenterPipelineMode)>("PQenterPipelineMode");
  return kIts(connection);
}
int PQexitPipelineMode(PGconn* connection) {
  static auto* const kIts = function<decltype(PQexitPipelineMode)>("PQexitPipelineMode");
  return kIts(connection);
}
int PQpipelineSync(PGconn* connection) {
  static auto* const kIts = function<decltype(PQpipelineSync)>("PQpipelineSync");
  return kIts(connection);
}
int PQputCopyData(PGconn* connection, const char* bytes, int size) {
  static auto* const kIts = function<decltype(PQputCopyData)>("PQputCopyData");
  return kIts(connection, bytes, size);
}
int PQputCopyEnd(PGconn* connection, const char* problem) {
  static auto* const kIts = function<decltype(PQputCopyEnd)>("PQputCopyEnd");
  return kIts(connection, problem);
}
ExecStatusType PQresultStatus(const PGresult* result) {
  static auto* const kIts = function<decltype(PQresultStatus)>("PQresultStatus");
  return kIts(result);
}
char* PQresultErrorField(const PGresult* result, int field) {
  static auto* const kIts = function<decltype(PQresultErrorField)>("PQresultErrorField");
  return kIts(result, field);
}
void PQclear(PGresult* result) {
  static auto* const kIts = function<decltype(PQclear)>("PQclear");
  return kIts(result);
}
int PQntuples(const PGresult* result) {
  static auto* const kIts = function<decltype(PQntuples)>("PQntuples");
  return kIts(result);
}
char* PQcmdTuples(PGresult* result) {
  static auto* const kIts = function<decltype(PQcmdTuples)>("PQcmdTuples");
  return kIts(result);
}
char* PQgetvalue(const PGresult* result, int row, int column) {
  static auto* const kIts = function<decltype(PQgetvalue)>("PQgetvalue");
  return kIts(result, row, column);
}
int PQgetlength(const PGresult* result, int row, int column) {
  static auto* const kIts = function<decltype(PQgetlength)>("PQgetlength");
  return kIts(result, row, column);
}
int PQgetisnull(const PGresult* result, int row, int column) {
  static auto* const kIts = function<decltype(PQgetisnull)>("PQgetisnull");
  return kIts(result, row, column);
}
}
// NOLINTEND(readability-identifier-naming)
