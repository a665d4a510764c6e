SELECT COUNT(*), COALESCE(SUM(engine = 'InnoDB'), 0) FROM information_schema.tables WHERE table_schema = DATABASE()
    AND table_name IN ('incumbent_meta', 'incumbent_election', 'incumbent_beat', 'incumbent_term',
    'incumbent_vars', 'incumbent_descriptor', 'incumbent_candidate', 'incumbent_order');
SELECT @@global.read_only;
SHOW GLOBAL VARIABLES LIKE 'wsrep_on';
SHOW GLOBAL VARIABLES LIKE 'group_replication_single_primary_mode'
