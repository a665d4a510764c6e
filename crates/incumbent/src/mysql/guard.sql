-- Holds off any takeover until the end of the transaction, or fails if there was one already. Call
-- it last, in the same message as COMMIT. It runs with the rights of its owner, so that whoever
-- writes under a leadership needs no right to the tables. A database that was restored, or a replica
-- that was promoted, shows a leadership of the past as if it still stood: it counts only if its leader
-- has renewed since candidates noticed.
CREATE /*M! OR REPLACE */ PROCEDURE incumbent_guard(IN election VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, IN token BIGINT)
SQL SECURITY DEFINER
BEGIN
    DECLARE stands INT DEFAULT 0;
    DECLARE sure INT DEFAULT 0;
    DECLARE words VARCHAR(128);
    SELECT COUNT(*) INTO stands FROM incumbent_election AS e
        WHERE e.name = election AND e.term = token AND e.state <> 'released' LOCK IN SHARE MODE;
    IF stands = 0 THEN
        SET words = CONCAT('incumbent: term ', token, ' is over');
        -- An error alone ends no transaction here, and the lock would stay until the client says so.
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = words;
    END IF;
    SELECT COUNT(*) INTO sure FROM incumbent_meta AS m JOIN incumbent_beat AS b ON b.name = election
        WHERE m.item = 'lineage' AND SUBSTRING_INDEX(m.value, ' ', 1) = CONCAT_WS('/', @@server_id, @@hostname, @@port,
            /*!80000 @@server_uuid, */ (SELECT UNIX_TIMESTAMP(create_time) FROM information_schema.tables
            WHERE table_schema = DATABASE() AND table_name = 'incumbent_election'))
        AND (SUBSTRING_INDEX(m.value, ' ', -1) = '' OR b.beaten_us > CAST(SUBSTRING_INDEX(m.value, ' ', -1) AS UNSIGNED));
    IF sure = 0 THEN
        SET words = CONCAT('incumbent: unconfirmed term ', token, ': the database was restored or promoted');
        ROLLBACK;
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = words;
    END IF;
END
