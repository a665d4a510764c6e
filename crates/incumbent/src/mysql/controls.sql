-- What operators have in force in an election, as JSON. A column that is there already stays.
SET @incumbent_step = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'incumbent_election' AND column_name = 'controls') = 0,
    'ALTER TABLE incumbent_election ADD COLUMN controls MEDIUMTEXT CHARACTER SET utf8mb4',
    'DO 0');
PREPARE incumbent_step FROM @incumbent_step;
EXECUTE incumbent_step;
DEALLOCATE PREPARE incumbent_step
