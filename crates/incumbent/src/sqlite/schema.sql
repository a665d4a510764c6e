-- Incumbent on SQLite, schema version 3. Times are microseconds since 1970 by the host's wall clock.

CREATE TABLE IF NOT EXISTS incumbent_meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who leads. One row per election, until that is forgotten; it changes only when leadership does.
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
    successor   TEXT,
    protocol    TEXT    NOT NULL DEFAULT 'lease' CHECK (protocol IN ('lease', 'rounds')),
    controls    TEXT
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

-- What the candidates of an election with a roster share: the highest id, the pace, and whether
-- somebody was evicted who was not dead.
CREATE TABLE IF NOT EXISTS incumbent_vars (
    name          TEXT    NOT NULL PRIMARY KEY,
    epoch_us      INTEGER NOT NULL,
    max_id        INTEGER NOT NULL,
    round_time_us INTEGER NOT NULL,
    round_limit   INTEGER NOT NULL,
    margin_us     INTEGER NOT NULL,
    delta_us      INTEGER NOT NULL,
    cap_us        INTEGER NOT NULL,
    round_us      INTEGER NOT NULL,
    next_us       INTEGER,
    pace          INTEGER NOT NULL,
    evicted       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The roster: one row for each candidate.
CREATE TABLE IF NOT EXISTS incumbent_descriptor (
    election    TEXT    NOT NULL,
    id          INTEGER NOT NULL,
    holder      TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    counter     INTEGER NOT NULL,
    address     TEXT,
    labels      TEXT    NOT NULL,
    joined_us   INTEGER NOT NULL,
    beaten_us   INTEGER NOT NULL,
    PRIMARY KEY (election, id),
    UNIQUE (election, incarnation)
) STRICT, WITHOUT ROWID;

-- The roll: who takes part, for people and for policy. One line for each process and election,
-- written slowly; nothing that must be safe depends on it.
CREATE TABLE IF NOT EXISTS incumbent_candidate (
    election    TEXT    NOT NULL,
    incarnation TEXT    NOT NULL,
    holder      TEXT    NOT NULL,
    address     TEXT,
    labels      TEXT    NOT NULL,
    priority    INTEGER NOT NULL,
    presence    TEXT    NOT NULL,
    why         TEXT,
    prefers     TEXT    NOT NULL,
    started_us  INTEGER NOT NULL,
    beaten_us   INTEGER NOT NULL,
    every_us    INTEGER NOT NULL,
    PRIMARY KEY (election, incarnation)
) STRICT, WITHOUT ROWID;

-- What operators ordered: the newest thousand orders of each election.
CREATE TABLE IF NOT EXISTS incumbent_order (
    election TEXT    NOT NULL,
    at_us    INTEGER NOT NULL,
    verb     TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    term     INTEGER NOT NULL,
    actor    TEXT    NOT NULL,
    reason   TEXT,
    PRIMARY KEY (election, at_us, verb, subject)
) STRICT, WITHOUT ROWID;
