#include "store/postgresql/address.h"

#include <libpq-fe.h>

#include <map>
#include <memory>

#include "store/postgresql/libpq.h"

namespace opwright::store::postgresql {

Result<Address> parse_address(std::string_view url) {
  if (!libpq_is_there())
    return fail(
        ErrorCode::kUnsupported,
        "--store postgresql://…: a store on a server needs the library libpq.so.5 (14 or newer), which is not here; "
        "install it (Debian: apt-get install libpq5), or name a file with --store FILE");
  char* problem = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(std::string(url).c_str(), &problem), PQconninfoFree);
  PQfreemem(problem);  // not shown: it quotes the address, and with it the password
  const auto refused = [] {
    return fail(ErrorCode::kUsage,
                "--store postgresql://…: this is no address of a server; write "
                "postgresql://HOST:PORT/DATABASE?user=USER, and %XX for characters like / @ : in a name or password");
  };
  if (!options) return refused();
  Address address;
  std::map<std::string, std::string, std::less<>> given;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    address.parameters.emplace_back(option->keyword, option->val);
    given.emplace(option->keyword, option->val);
  }
  const auto value = [&](std::string_view name) {
    const auto found = given.find(name);
    return found != given.end() ? found->second : std::string();
  };
  // A password with a / or @ in it ends too early, and what is left of it looks like another part.
  if (value("port").find_first_not_of("0123456789,") != std::string::npos ||
      value("host").find('@') != std::string::npos || value("dbname").find('@') != std::string::npos)
    return refused();
  std::string host = value("host");
  if (host.starts_with('/')) host.clear();  // a socket
  const std::string user = value("user"), port = value("port"), folder = value("host");
  address.shown = "postgresql://" + user + (user.empty() ? "" : "@") + host + (port.empty() ? "" : ":" + port) + "/" +
                  value("dbname") + (folder.starts_with('/') ? "?host=" + folder : "");
  return address;
}

}  // namespace opwright::store::postgresql
