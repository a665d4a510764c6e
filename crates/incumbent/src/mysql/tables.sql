-- Incumbent on MySQL and MariaDB. Times are microseconds since 1970 by the server's clock.

CREATE TABLE IF NOT EXISTS incumbent_meta (
    item  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE = InnoDB;

-- Who leads. One row per election, until that is forgotten; it changes only when leadership does.
CREATE TABLE IF NOT EXISTS incumbent_election (
    name        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    state       VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL CHECK (state IN ('held', 'ending', 'released')),
    holder      VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    incarnation VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    term        BIGINT NOT NULL CHECK (term > 0),
    lease_us    BIGINT NOT NULL,
    margin_us   BIGINT NOT NULL,
    expiry      VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL CHECK (expiry IN ('observed', 'database')),
    since_us    BIGINT NOT NULL,
    successor   VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin
) ENGINE = InnoDB;

-- The beats of whoever leads. A null incarnation means that no renewal is accepted.
CREATE TABLE IF NOT EXISTS incumbent_beat (
    name        VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    term        BIGINT NOT NULL,
    incarnation VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin,
    beat        BIGINT NOT NULL,
    beaten_us   BIGINT NOT NULL
) ENGINE = InnoDB;

-- Past and present terms, for people: the newest thousand of each election.
CREATE TABLE IF NOT EXISTS incumbent_term (
    election    VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    term        BIGINT NOT NULL,
    holder      VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    incarnation VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    opening     VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    began_us    BIGINT NOT NULL,
    ending      VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin,
    ended_us    BIGINT,
    actor       TEXT CHARACTER SET utf8mb4,
    note        TEXT CHARACTER SET utf8mb4,
    PRIMARY KEY (election, term)
) ENGINE = InnoDB
