-- Holds off any takeover until the end of the transaction, or fails if there was one already. Call
-- it last, in the same message as COMMIT. It runs with the rights of its owner, so that whoever
-- writes under a leadership needs no right to the tables.
CREATE OR REPLACE FUNCTION incumbent_guard(election text, token bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $guard$
BEGIN
    PERFORM 1 FROM incumbent_election AS e
        WHERE e.name = incumbent_guard.election AND e.term = incumbent_guard.token AND e.state <> 'released'
        FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'term % of election % is over', incumbent_guard.token, incumbent_guard.election
            USING ERRCODE = 'IN001', HINT = 'another leader may have taken over: do not try again under this token';
    END IF;
END
$guard$
