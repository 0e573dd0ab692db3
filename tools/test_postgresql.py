#!/usr/bin/env python3
"""A server of PostgreSQL for tests, on a socket of its own: nothing listens on a network, nothing of the machine changes.

usage: test_postgresql.py start [SETTING=VALUE…]   starts one; prints its URL
       test_postgresql.py stop URL                 stops it and removes its folder
       test_postgresql.py restart URL              stops it at once, as a crash would, and starts it again

The user `opwright` may do everything without a password; every other one needs a password. `./x test` hands the URL to
unit tests and end-to-end tests in $OPWRIGHT_TEST_POSTGRESQL; `eval` of nothing is needed to run one by hand:

  OPWRIGHT_TEST_POSTGRESQL=$(tools/test_postgresql.py start) build/dev/src/store_tests

Exit status 3, with the reason, where there is no server to start.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "120",
    "shared_buffers": "64MB",
    "max_wal_size": "2GB",
    "autovacuum_naptime": "5s",
    "log_min_messages": "fatal",
}
SERVER_USER = "nobody"  # the server refuses to run as root


class NoServer(Exception):
    pass


def binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    if initdb is None:
        raise NoServer("no PostgreSQL server is installed (Debian package postgresql-15)")
    return Path(initdb).resolve().parent


def run(folder: Path, *command: object) -> None:
    as_other = ["setpriv", f"--reuid={SERVER_USER}", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*as_other, *map(str, command)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
        text=True,
        check=False,
    )
    if done.returncode != 0:
        log = folder / "log"
        raise NoServer(f"{Path(command[0]).name} failed: {done.stdout}{log.read_text() if log.exists() else ''}")


def launch(folder: Path) -> None:
    run(folder, binaries() / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w", "-t", "60", "-s", "start")


def start(settings: dict[str, str]) -> str:
    tools = binaries()
    folder = Path(tempfile.mkdtemp(prefix="opwright-pg-"))
    try:
        folder.chmod(0o755)
        if os.geteuid() == 0:
            user = pwd.getpwnam(SERVER_USER)
            os.chown(folder, user.pw_uid, user.pw_gid)
        run(folder, tools / "initdb", "-D", folder / "data", "-U", "opwright", "-A", "trust", "-E", "UTF8", "-N", "--locale=C")
        lines = [f"{name} = '{value}'" for name, value in {**SETTINGS, **settings}.items()]
        lines.append(f"unix_socket_directories = '{folder}'")
        with (folder / "data/postgresql.conf").open("a") as file:
            file.write("\n".join(lines) + "\n")
        (folder / "data/pg_hba.conf").write_text("local all opwright trust\nlocal all all scram-sha-256\n")
        launch(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return f"postgresql://opwright@/postgres?host={folder}"


def folder_of(url: str) -> Path:
    folder = Path(parse_qs(urlsplit(url).query)["host"][0])
    if not folder.name.startswith("opwright-pg-") or not (folder / "data/PG_VERSION").exists():
        raise NoServer(f"{url}: not a server that this script has started")
    return folder


def stop(url: str, mode: str = "immediate") -> None:
    folder = folder_of(url)
    run(folder, binaries() / "pg_ctl", "-D", folder / "data", "-m", mode, "-w", "-s", "stop")


def main(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["start"]:
            print(start(dict(one.split("=", 1) for one in arguments[1:])))
        elif arguments[:1] == ["stop"] and len(arguments) == 2:
            folder = folder_of(arguments[1])
            if (folder / "data/postmaster.pid").exists():
                stop(arguments[1])
            shutil.rmtree(folder, ignore_errors=True)
        elif arguments[:1] == ["restart"] and len(arguments) == 2:
            stop(arguments[1])
            launch(folder_of(arguments[1]))
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except NoServer as error:
        print(f"test_postgresql.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
