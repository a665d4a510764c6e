-- Whose transactions keep rows of elections locked. MariaDB does not tell which rows are locked before somebody
-- waits for them: there these are all transactions with locked rows in this database, and nothing is said to end
-- them. To see those of others, a user needs PROCESS, and on MySQL SELECT on data_locks.
SELECT NULL,
    CONCAT('session ', t.trx_mysql_thread_id, ' of ', p.user, ' at ', p.host, ' (', p.command, ')'),
    /*M! CONCAT('locked rows in this database (', t.trx_rows_locked, ')') */ /*!80000 CONCAT('locks on ', l.locked) */,
    NULL,
    /*M! NULL */ /*!80000 CONCAT('KILL ', t.trx_mysql_thread_id) */,
    CONCAT_WS(' ', t.trx_mysql_thread_id, t.trx_id, t.trx_started)
FROM information_schema.innodb_trx AS t
JOIN information_schema.processlist AS p ON p.id = t.trx_mysql_thread_id
/*!80000 JOIN (
    SELECT engine_transaction_id, GROUP_CONCAT(DISTINCT object_name ORDER BY object_name SEPARATOR ', ') AS locked
    FROM performance_schema.data_locks
    WHERE object_schema = DATABASE() AND object_name LIKE 'incumbent\_%'
        AND lock_status = 'GRANTED' AND lock_mode NOT IN ('IS', 'IX')
    GROUP BY engine_transaction_id
) AS l ON l.engine_transaction_id = t.trx_id */
WHERE p.id <> CONNECTION_ID() /*M! AND t.trx_rows_locked > 0 AND p.db = DATABASE() */
ORDER BY t.trx_started
