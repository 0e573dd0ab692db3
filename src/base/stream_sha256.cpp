#include "base/stream_sha256.h"

#include <openssl/evp.h>

#include "base/broken.h"

namespace opwright {
namespace {

void check(bool ok, const char* what) {
  if (!ok) broken("OpenSSL computes SHA-256", what);
}

EVP_MD_CTX* context(void* state) { return static_cast<EVP_MD_CTX*>(state); }

}  // namespace

StreamSha256::StreamSha256() : state_(EVP_MD_CTX_new()) {
  check(state_ != nullptr && EVP_DigestInit_ex(context(state_), EVP_sha256(), nullptr) == 1, "begin");
}

StreamSha256::~StreamSha256() { EVP_MD_CTX_free(context(state_)); }

void StreamSha256::add(std::string_view piece) {
  check(EVP_DigestUpdate(context(state_), piece.data(), piece.size()) == 1, "go on");
}

Sha256 StreamSha256::digest() {
  Sha256 hash{};
  check(EVP_DigestFinal_ex(context(state_), hash.data(), nullptr) == 1, "end");
  return hash;
}

}  // namespace opwright
