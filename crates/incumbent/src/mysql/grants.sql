-- Optional: to see who keeps a lock that elections wait for (status, explain, doctor).
-- GRANT PROCESS ON *.* TO {user};
-- The same on MySQL, which needs both.
-- GRANT SELECT ON performance_schema.data_locks TO {user};
-- In a group of MySQL (Group Replication): to tell a primary that lost its majority.
-- GRANT SELECT ON performance_schema.replication_group_members TO {user};
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
