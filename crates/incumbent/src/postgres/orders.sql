-- What operators have in force in an election, as JSON.
ALTER TABLE incumbent_election ADD COLUMN IF NOT EXISTS controls text;

-- The roll: who takes part, for people and for policy. One line for each process and election,
-- written slowly; nothing that must be safe depends on it.
CREATE TABLE IF NOT EXISTS incumbent_candidate (
    election    text    COLLATE "C" NOT NULL,
    incarnation text    COLLATE "C" NOT NULL,
    holder      text    NOT NULL,
    address     text,
    labels      text    NOT NULL,
    priority    integer NOT NULL,
    presence    text    NOT NULL,
    why         text,
    prefers     text    NOT NULL,
    started_us  bigint  NOT NULL,
    beaten_us   bigint  NOT NULL,
    every_us    bigint  NOT NULL,
    PRIMARY KEY (election, incarnation)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- What operators ordered: the newest thousand orders of each election.
CREATE TABLE IF NOT EXISTS incumbent_order (
    election text   COLLATE "C" NOT NULL,
    at_us    bigint NOT NULL,
    verb     text   NOT NULL,
    subject  text   NOT NULL,
    term     bigint NOT NULL,
    actor    text   NOT NULL,
    reason   text,
    PRIMARY KEY (election, at_us, verb, subject)
)
