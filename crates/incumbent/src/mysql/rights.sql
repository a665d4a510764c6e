UPDATE incumbent_meta SET value = value WHERE item = 'probe';
INSERT INTO incumbent_election SELECT * FROM incumbent_election WHERE FALSE;
UPDATE incumbent_election SET state = state WHERE name = '';
INSERT INTO incumbent_beat SELECT * FROM incumbent_beat WHERE FALSE;
UPDATE incumbent_beat SET beat = beat WHERE name = '';
INSERT INTO incumbent_term SELECT * FROM incumbent_term WHERE FALSE;
UPDATE incumbent_term SET note = note WHERE election = '';
DELETE FROM incumbent_term WHERE election = '';
INSERT INTO incumbent_vars SELECT * FROM incumbent_vars WHERE FALSE;
UPDATE incumbent_vars SET pace = pace WHERE name = '';
INSERT INTO incumbent_descriptor SELECT * FROM incumbent_descriptor WHERE FALSE;
UPDATE incumbent_descriptor SET counter = counter WHERE election = '';
DELETE FROM incumbent_descriptor WHERE election = '';
INSERT INTO incumbent_candidate SELECT * FROM incumbent_candidate WHERE FALSE;
UPDATE incumbent_candidate SET why = why WHERE election = '';
DELETE FROM incumbent_candidate WHERE election = '';
INSERT INTO incumbent_order SELECT * FROM incumbent_order WHERE FALSE;
DELETE FROM incumbent_order WHERE election = ''
