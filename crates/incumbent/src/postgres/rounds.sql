-- Registers of elections with a roster, and which protocol an election is held by.
ALTER TABLE incumbent_election ADD COLUMN IF NOT EXISTS protocol text NOT NULL DEFAULT 'lease';

-- What the candidates of such an election share: the highest id, the pace, and whether somebody was
-- evicted who was not dead. Its lock is where they meet.
CREATE TABLE IF NOT EXISTS incumbent_vars (
    name          text   COLLATE "C" NOT NULL PRIMARY KEY,
    epoch_us      bigint NOT NULL,
    max_id        bigint NOT NULL,
    round_time_us bigint NOT NULL,
    round_limit   bigint NOT NULL,
    margin_us     bigint NOT NULL,
    delta_us      bigint NOT NULL,
    cap_us        bigint NOT NULL,
    round_us      bigint NOT NULL,
    next_us       bigint,
    pace          bigint NOT NULL,
    evicted       bigint NOT NULL,
    writes        bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The roster: one row for each candidate. Half of each page is kept free, so that a beat need not
-- touch the index.
CREATE TABLE IF NOT EXISTS incumbent_descriptor (
    election    text   COLLATE "C" NOT NULL,
    id          bigint NOT NULL,
    holder      text   NOT NULL,
    incarnation text   NOT NULL,
    counter     bigint NOT NULL,
    address     text,
    labels      text   NOT NULL,
    joined_us   bigint NOT NULL,
    beaten_us   bigint NOT NULL,
    PRIMARY KEY (election, id),
    UNIQUE (election, incarnation)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)
