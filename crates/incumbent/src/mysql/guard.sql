-- Holds off any takeover until the end of the transaction, or fails if there was one already. Call
-- it last, in the same message as COMMIT. It runs with the rights of its owner, so that whoever
-- writes under a leadership needs no right to the tables.
CREATE PROCEDURE incumbent_guard(IN election VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, IN token BIGINT)
SQL SECURITY DEFINER
BEGIN
    DECLARE stands INT DEFAULT 0;
    DECLARE words VARCHAR(128);
    SELECT COUNT(*) INTO stands FROM incumbent_election AS e
        WHERE e.name = election AND e.term = token AND e.state <> 'released' LOCK IN SHARE MODE;
    IF stands = 0 THEN
        SET words = CONCAT('incumbent: term ', token, ' is over');
        -- An error alone ends no transaction here, and the lock would stay until the client says so.
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = words;
    END IF;
END
