-- Who has the lock of an election, which the guard shares and claims and orders want alone, or a lock on
-- a table that keeps everybody from writing to it. Of the sessions of others a user without
-- pg_read_all_stats sees little more than the number.
SELECT held.election,
    concat('session ', held.pid, ' of ', coalesce(a.usename, 'somebody'), ' at ' || host(a.client_addr),
        ' (' || nullif(concat_ws(', ', nullif(a.application_name, ''), a.state), '') || ')'),
    held.what,
    floor(extract(epoch FROM clock_timestamp() - a.xact_start))::bigint,
    concat('SELECT pg_terminate_backend(', held.pid, ')'),
    concat(held.pid, ' ', held.work)
FROM (
    SELECT e.name AS election, 'the lock of the election' AS what, l.pid, l.virtualtransaction AS work
    FROM pg_locks AS l
    JOIN incumbent_election AS e ON l.objid::bigint = hashtext(e.name COLLATE "C") & 4294967295::bigint
    -- Sessions of the whole server are listed, and databases may have elections of the same name.
    WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.locktype = 'advisory' AND l.granted AND l.classid = 1768842101 AND l.objsubid = 2
    UNION ALL
    SELECT NULL, concat('the table ', l.relation::regclass), l.pid, l.virtualtransaction
    FROM pg_locks AS l
    WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.locktype = 'relation' AND l.granted
        AND l.relation IN (to_regclass('incumbent_election'), to_regclass('incumbent_beat'))
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
) AS held
LEFT JOIN pg_stat_activity AS a ON a.pid = held.pid
WHERE held.pid <> pg_backend_pid()
ORDER BY a.xact_start
