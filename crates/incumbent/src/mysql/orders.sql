-- The roll: who takes part, for people and for policy. One line for each process and election,
-- written slowly; nothing that must be safe depends on it.
CREATE TABLE IF NOT EXISTS incumbent_candidate (
    election    VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    incarnation VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    holder      VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    address     VARCHAR(256) CHARACTER SET utf8mb4,
    labels      TEXT CHARACTER SET utf8mb4 NOT NULL,
    priority    INT NOT NULL,
    presence    VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    why         TEXT CHARACTER SET utf8mb4,
    prefers     TEXT CHARACTER SET utf8mb4 NOT NULL,
    started_us  BIGINT NOT NULL,
    beaten_us   BIGINT NOT NULL,
    every_us    BIGINT NOT NULL,
    PRIMARY KEY (election, incarnation)
) ENGINE = InnoDB;

-- What operators ordered: the newest thousand orders of each election.
CREATE TABLE IF NOT EXISTS incumbent_order (
    election VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    at_us    BIGINT NOT NULL,
    verb     VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    subject  VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    term     BIGINT NOT NULL,
    actor    TEXT CHARACTER SET utf8mb4 NOT NULL,
    reason   TEXT CHARACTER SET utf8mb4,
    PRIMARY KEY (election, at_us, verb, subject)
) ENGINE = InnoDB
