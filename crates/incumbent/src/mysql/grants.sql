-- What a candidate needs.
GRANT SELECT, UPDATE ON incumbent_meta TO {user};
GRANT SELECT, INSERT, UPDATE ON incumbent_election TO {user};
GRANT SELECT, INSERT, UPDATE ON incumbent_beat TO {user};
GRANT SELECT, INSERT, UPDATE ON incumbent_vars TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON incumbent_term TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON incumbent_descriptor TO {user};
GRANT SELECT, INSERT, UPDATE, DELETE ON incumbent_candidate TO {user};
GRANT SELECT, INSERT, DELETE ON incumbent_order TO {user};
-- What whoever writes under a leadership needs.
GRANT EXECUTE ON PROCEDURE incumbent_guard TO {user};
