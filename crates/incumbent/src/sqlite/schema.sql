-- Incumbent on SQLite, schema version 1. Times are microseconds since 1970 by the host's wall clock.

CREATE TABLE IF NOT EXISTS incumbent_meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who leads. One row per election, never deleted; it changes only when leadership does.
CREATE TABLE IF NOT EXISTS incumbent_election (
    name        TEXT    NOT NULL PRIMARY KEY,
    state       TEXT    NOT NULL CHECK (state IN ('held', 'ending', 'released')),
    holder      TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    term        INTEGER NOT NULL CHECK (term > 0),
    lease_us    INTEGER NOT NULL,
    margin_us   INTEGER NOT NULL,
    expiry      TEXT    NOT NULL CHECK (expiry IN ('observed', 'database')),
    since_us    INTEGER NOT NULL,
    successor   TEXT
) STRICT, WITHOUT ROWID;

-- The beats of whoever leads. A null incarnation means that no renewal is accepted.
CREATE TABLE IF NOT EXISTS incumbent_beat (
    name        TEXT    NOT NULL PRIMARY KEY,
    term        INTEGER NOT NULL,
    incarnation TEXT,
    beat        INTEGER NOT NULL,
    beaten_us   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Past and present terms, for people: the newest thousand of each election.
CREATE TABLE IF NOT EXISTS incumbent_term (
    election    TEXT    NOT NULL,
    term        INTEGER NOT NULL,
    holder      TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    opening     TEXT    NOT NULL,
    began_us    INTEGER NOT NULL,
    ending      TEXT,
    ended_us    INTEGER,
    actor       TEXT,
    note        TEXT,
    PRIMARY KEY (election, term)
) STRICT, WITHOUT ROWID;
