#!/usr/bin/env python3
"""A writer in Python that cannot write once it is deposed.

Incumbent decides who may write; the database makes sure of it. Run this file on two hosts, or in
two terminals, against the database that also holds the election:

    export DATABASE_URL=postgres://me:secret@db.example/app   # or mysql://... or sqlite:///var/lib/app.db
    incumbent schema --apply --url "$DATABASE_URL"            # once
    incumbent run --url "$DATABASE_URL" --election ledger -- python3 examples/python/fenced_writer.py

One of the two writes, the other waits. Kill or stop the first one, and the second one takes over.
`incumbent run` tells this program through its environment who it is:

    INCUMBENT_ELECTION   the election that was won
    INCUMBENT_TOKEN      the number of the term; it grows with every new leader
    INCUMBENT_NAME       what people call this candidate

The pattern, in any language that speaks SQL:

    BEGIN
    ... your own statements ...
    SELECT incumbent_guard(election, token); COMMIT      -- PostgreSQL
    CALL incumbent_guard(election, token); COMMIT        -- MySQL, MariaDB

The guard fails if the term is over, and holds off any takeover until the transaction ends. It comes
last and travels in one message with COMMIT: if this process is stopped, it is stopped before the
message or after it, and never holds the guard's lock while it stands still. In SQLite there is
no guard to call: BEGIN IMMEDIATE keeps every other writer of the file away, so that a look at the
term is enough.

What it needs: nothing for SQLite, psycopg2 for PostgreSQL, PyMySQL for MySQL and MariaDB. Debian
calls them python3-psycopg2 and python3-pymysql.

psycopg2 understands the same options behind the question mark of a URL as Incumbent does (sslmode
and so on). PyMySQL takes no URL, and this program hands none of them on; so it refuses them, rather
than leave you with a connection that is less safe than you asked for.

How it ends: 0 when it is done (only with --writes); 123, the code that `incumbent run` uses for a
lost leadership, when it was deposed; 1 when anything else went wrong. After a lost connection
during COMMIT nobody knows whether it took effect: look before you write the same again.
"""

import argparse
import os
import sys
import time
from urllib.parse import unquote, urlsplit

DEPOSED = 123

TABLE = "CREATE TABLE IF NOT EXISTS journal (number BIGINT NOT NULL, token BIGINT NOT NULL, author VARCHAR(128) NOT NULL)"
WRITE = "INSERT INTO journal SELECT COUNT(*) + 1, {0}, {0} FROM journal"


class Deposed(Exception):
    """Another leader may be writing by now. Nothing of this transaction was written."""


class Sqlite:
    """A file that also holds the election."""

    def __init__(self, url):
        import sqlite3

        refuse_options(url)
        path = url.split(":", 1)[1]
        path = path[2:] if path.startswith("//") else path
        # Without an isolation level the module begins no transactions of its own.
        self.connection = sqlite3.connect(path, timeout=10, isolation_level=None)
        self.connection.execute(TABLE)

    def write(self, election, token, author, before_commit):
        # Whoever waits inside of a transaction keeps the whole file locked, so wait before it.
        before_commit()
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self.connection.execute(WRITE.format("?"), (token, author))
            stands = self.connection.execute(
                "SELECT 1 FROM incumbent_election WHERE name = ? AND term = ? AND state <> 'released'",
                (election, token),
            ).fetchone()
            if stands is None:
                raise Deposed
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise


class Postgres:
    """A database of PostgreSQL."""

    def __init__(self, url):
        import psycopg2

        self.Error = psycopg2.Error
        self.connection = psycopg2.connect(url)
        # This module puts values into the text itself, so that a message may hold two statements.
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute(TABLE)

    def write(self, election, token, author, before_commit):
        self.cursor.execute("BEGIN")
        try:
            self.cursor.execute(WRITE.format("%s"), (token, author))
            before_commit()
            self.cursor.execute("SELECT incumbent_guard(%s, %s); COMMIT", (election, token))
        except self.Error as error:
            if not self.connection.closed:
                self.cursor.execute("ROLLBACK")
            if error.pgcode == "IN001":
                raise Deposed from error
            raise


class MySql:
    """A database of MySQL or MariaDB."""

    def __init__(self, url):
        import pymysql
        from pymysql.constants import CLIENT

        # That all writers use one node of a cluster is a promise of yours, and changes no connection.
        refuse_options(url, harmless=("galera",))
        parts = urlsplit(url)
        self.Error = pymysql.err.MySQLError
        self.connection = pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=parts.path.lstrip("/"),
            autocommit=True,
            # So that the guard and COMMIT can go in one message.
            client_flag=CLIENT.MULTI_STATEMENTS,
        )
        self.cursor = self.connection.cursor()
        self.cursor.execute(TABLE)

    def write(self, election, token, author, before_commit):
        self.cursor.execute("BEGIN")
        try:
            self.cursor.execute(WRITE.format("%s"), (token, author))
            before_commit()
            self.cursor.execute("CALL incumbent_guard(%s, %s); COMMIT", (election, token))
            # Every statement of the message has an answer, and an error may be in any of them.
            while self.cursor.nextset():
                pass
        except self.Error as error:
            if self.connection.open:
                self.connection.rollback()
            if "incumbent: term" in str(error):
                raise Deposed from error
            raise


def refuse_options(url, harmless=()):
    options = [option.split("=", 1)[0] for option in url.partition("?")[2].split("&")]
    if any(option and option not in harmless for option in options):
        # Without naming them: what follows a question mark may be the rest of a password.
        sys.exit("DATABASE_URL has options that this example does not hand on: leave them out, or teach it to")


def connect(url):
    scheme = url.split(":", 1)[0]
    kinds = {"sqlite": Sqlite, "postgres": Postgres, "postgresql": Postgres, "mysql": MySql, "mariadb": MySql}
    if scheme not in kinds:
        sys.exit(f"DATABASE_URL must begin with one of {', '.join(kinds)}, not with {scheme!r}")
    return kinds[scheme](url)


def environment(name, advice):
    value = os.environ.get(name)
    if not value:
        sys.exit(f"{name} is not set: {advice}")
    return value


def main():
    flags = argparse.ArgumentParser(description="Writes to a journal for as long as it leads.")
    flags.add_argument("--writes", type=int, help="stop after so many; default: never")
    flags.add_argument("--pause", type=float, default=1.0, help="seconds between two; default: 1")
    flags.add_argument("--ask", action="store_true", help="wait for Enter before each commit, to try things")
    flags = flags.parse_args()
    advice = "run this program with `incumbent run --url URL -- python3 ...`"
    election = environment("INCUMBENT_ELECTION", advice)
    token = int(environment("INCUMBENT_TOKEN", advice))
    author = os.environ.get("INCUMBENT_NAME", "somebody")
    database = connect(environment("DATABASE_URL", "say where to write, as a URL"))

    def before_commit():
        if flags.ask:
            print("about to commit; press Enter", flush=True)
            sys.stdin.readline()

    written = 0
    while flags.writes is None or written < flags.writes:
        try:
            database.write(election, token, author, before_commit)
        except Deposed:
            print(
                f"{author} was deposed: term {token} of election {election} is over. "
                "Nothing of the last transaction was written.",
                file=sys.stderr,
            )
            return DEPOSED
        written += 1
        print(f"{author} wrote entry {written} under token {token}", flush=True)
        if flags.writes is None or written < flags.writes:
            time.sleep(flags.pause)
    return 0


if __name__ == "__main__":
    sys.exit(main())
