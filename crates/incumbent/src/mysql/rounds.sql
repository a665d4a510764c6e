-- What the candidates of an election with a roster share: the highest id, the pace, and whether
-- somebody was evicted who was not dead. Its lock is where they meet.
CREATE TABLE IF NOT EXISTS incumbent_vars (
    name          VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    epoch_us      BIGINT NOT NULL,
    max_id        BIGINT NOT NULL,
    round_time_us BIGINT NOT NULL,
    round_limit   BIGINT NOT NULL,
    margin_us     BIGINT NOT NULL,
    delta_us      BIGINT NOT NULL,
    cap_us        BIGINT NOT NULL,
    round_us      BIGINT NOT NULL,
    next_us       BIGINT,
    pace          BIGINT NOT NULL,
    evicted       BIGINT NOT NULL,
    writes        BIGINT NOT NULL
) ENGINE = InnoDB;

-- The roster: one row for each candidate.
CREATE TABLE IF NOT EXISTS incumbent_descriptor (
    election    VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          BIGINT NOT NULL,
    holder      VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    incarnation VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    counter     BIGINT NOT NULL,
    address     VARCHAR(256) CHARACTER SET utf8mb4,
    labels      TEXT CHARACTER SET utf8mb4 NOT NULL,
    joined_us   BIGINT NOT NULL,
    beaten_us   BIGINT NOT NULL,
    PRIMARY KEY (election, id),
    UNIQUE (election, incarnation)
) ENGINE = InnoDB
