-- Holds off any takeover until the end of the transaction, or fails if there was one already. Call
-- it last, in the same message as COMMIT. It runs with the rights of its owner, so that whoever
-- writes under a leadership needs no right to the tables; so every name in it is complete, nothing
-- is searched for, and nobody may call it who was not told so.
--
-- The row's lock is what fences. PostgreSQL lets one who shares a row pass one who waits to change it,
-- so that busy writers could keep a takeover or an order away for ever. Its advisory locks have a
-- queue: who claims or orders has the lock of the election alone, who commits shares it, and whoever
-- came first goes first. The first number of its key is 'incu' in ASCII.
--
-- A database that was restored, or a standby that was promoted, shows a leadership of the past as if it
-- still stood. It counts only if its leader has renewed since candidates noticed.
DO $make$
DECLARE
    place text := (SELECT quote_ident(n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass('incumbent_election'));
BEGIN
    EXECUTE replace($function$
        CREATE OR REPLACE FUNCTION {place}.incumbent_guard(election text, token bigint) RETURNS void
        LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $guard$
        DECLARE
            known text;
            beaten bigint;
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(1768842101, hashtext(incumbent_guard.election COLLATE "C"));
            PERFORM 1 FROM {place}.incumbent_election AS e
                WHERE e.name = incumbent_guard.election AND e.term = incumbent_guard.token AND e.state <> 'released'
                FOR SHARE;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'term % of election % is over', incumbent_guard.token, incumbent_guard.election
                    USING ERRCODE = 'IN001',
                    HINT = 'another leader may have taken over: do not try again under this token';
            END IF;
            SELECT m.value, b.beaten_us INTO known, beaten
                FROM {place}.incumbent_meta AS m, {place}.incumbent_beat AS b
                WHERE m.item = 'lineage' AND b.name = incumbent_guard.election;
            IF known IS NULL
                OR split_part(known, ' ', 1) <> concat((SELECT c.system_identifier FROM pg_control_system() AS c), '/',
                    substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8), '/',
                    pg_relation_filenode('{place}.incumbent_election'))
                OR beaten <= nullif(split_part(known, ' ', 2), '')::bigint
            THEN
                RAISE EXCEPTION 'term % of election % is not confirmed: the database was restored or promoted',
                    incumbent_guard.token, incumbent_guard.election
                    USING ERRCODE = 'IN002',
                    HINT = 'try again after the next renewal, and give up when the leadership is lost';
            END IF;
        END
        $guard$
    $function$, '{place}', place);
    EXECUTE replace('REVOKE ALL ON FUNCTION {place}.incumbent_guard(text, bigint) FROM PUBLIC', '{place}', place);
END
$make$
