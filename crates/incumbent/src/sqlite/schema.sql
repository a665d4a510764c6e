-- Incumbent on SQLite, schema version 2. Times are microseconds since 1970 by the host's wall clock.

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
    successor   TEXT,
    protocol    TEXT    NOT NULL DEFAULT 'lease' CHECK (protocol IN ('lease', 'rounds'))
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
