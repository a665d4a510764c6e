WITH wanted (name, rights) AS (VALUES
    ('incumbent_meta', ARRAY['SELECT', 'UPDATE']),
    ('incumbent_election', ARRAY['SELECT', 'INSERT', 'UPDATE']),
    ('incumbent_beat', ARRAY['SELECT', 'INSERT', 'UPDATE']),
    ('incumbent_term', ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
    ('incumbent_vars', ARRAY['SELECT', 'INSERT', 'UPDATE']),
    ('incumbent_descriptor', ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
    ('incumbent_candidate', ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
    ('incumbent_order', ARRAY['SELECT', 'INSERT', 'DELETE'])
), found AS (
    SELECT w.name, w.rights, to_regclass(w.name) AS id FROM wanted AS w
)
SELECT
    coalesce((SELECT min(name) FROM found WHERE id IS NULL), ''),
    pg_is_in_recovery(),
    current_setting('transaction_read_only'),
    coalesce((SELECT min(f.name) FROM found AS f JOIN pg_class AS c ON c.oid = f.id WHERE c.relpersistence <> 'p'), ''),
    coalesce((SELECT string_agg(need || ' on ' || f.name, ', ') FROM found AS f, unnest(f.rights) AS need
        WHERE f.id IS NOT NULL AND NOT has_table_privilege(f.id, need)), '')
