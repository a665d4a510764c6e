-- Whose transactions have locked rows in this database; which rows cannot be seen before somebody waits for
-- them. To see those of others, a user needs PROCESS.
SELECT NULL,
    CONCAT('session ', t.trx_mysql_thread_id, ' of ', p.user, ' at ', p.host, ' (', p.command, ')'),
    CONCAT(t.trx_rows_locked, ' locked rows in this database'),
    NULL,
    CONCAT('KILL ', t.trx_mysql_thread_id),
    CONCAT_WS(' ', t.trx_mysql_thread_id, t.trx_id, t.trx_started)
FROM information_schema.innodb_trx AS t
JOIN information_schema.processlist AS p ON p.id = t.trx_mysql_thread_id
WHERE t.trx_rows_locked > 0 AND p.db = DATABASE() AND p.id <> CONNECTION_ID()
ORDER BY t.trx_started
