-- What a candidate needs, besides USAGE on the schema of the tables if that is not `public`.
GRANT SELECT, UPDATE ON incumbent_meta TO {user};
GRANT SELECT, INSERT, UPDATE ON incumbent_election, incumbent_beat TO {user};
GRANT SELECT, INSERT, UPDATE ON incumbent_vars TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON incumbent_term, incumbent_descriptor TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON incumbent_candidate TO {user};
GRANT SELECT, INSERT, DELETE ON incumbent_order TO {user};
-- What whoever writes under a leadership needs.
GRANT EXECUTE ON FUNCTION incumbent_guard(text, bigint) TO {user};
