-- Which protocol an election is held by. A column that is there already stays.
SET @incumbent_step = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'incumbent_election' AND column_name = 'protocol') = 0,
    'ALTER TABLE incumbent_election ADD COLUMN protocol VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''lease''',
    'DO 0');
PREPARE incumbent_step FROM @incumbent_step;
EXECUTE incumbent_step;
DEALLOCATE PREPARE incumbent_step
