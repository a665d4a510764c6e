-- Incumbent on PostgreSQL. Times are microseconds since 1970 by the server's clock.

CREATE TABLE IF NOT EXISTS incumbent_meta (
    item  text NOT NULL PRIMARY KEY,
    value text NOT NULL
);

-- Who leads. One row per election, until that is forgotten; it changes only when leadership does.
CREATE TABLE IF NOT EXISTS incumbent_election (
    name        text   COLLATE "C" NOT NULL PRIMARY KEY,
    state       text   NOT NULL CHECK (state IN ('held', 'ending', 'released')),
    holder      text   NOT NULL,
    incarnation text   NOT NULL,
    term        bigint NOT NULL CHECK (term > 0),
    lease_us    bigint NOT NULL,
    margin_us   bigint NOT NULL,
    expiry      text   NOT NULL CHECK (expiry IN ('observed', 'database')),
    since_us    bigint NOT NULL,
    successor   text
);

-- The beats of whoever leads. A null incarnation means that no renewal is accepted. Half of each
-- page is kept free, so that a beat need not touch the index.
CREATE TABLE IF NOT EXISTS incumbent_beat (
    name        text   COLLATE "C" NOT NULL PRIMARY KEY,
    term        bigint NOT NULL,
    incarnation text,
    beat        bigint NOT NULL,
    beaten_us   bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Past and present terms, for people: the newest thousand of each election.
CREATE TABLE IF NOT EXISTS incumbent_term (
    election    text   COLLATE "C" NOT NULL,
    term        bigint NOT NULL,
    holder      text   NOT NULL,
    incarnation text   NOT NULL,
    opening     text   NOT NULL,
    began_us    bigint NOT NULL,
    ending      text,
    ended_us    bigint,
    actor       text,
    note        text,
    PRIMARY KEY (election, term)
)
