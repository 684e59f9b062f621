-- The tables and functions of the version whose commands opened the database themselves, for t8012-upgrade.py.
-- The first schema.  A workspace's journals are lines, byte for byte those of the files; what
-- decides an append is beside them and changes in the same transaction.
CREATE SEQUENCE roger.journal_number;

CREATE TABLE roger.workspace (
	ws bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'incoming', 'moved')),
	place text NOT NULL DEFAULT '', -- where it was moved to
	-- The journal of messages: its end, the chain there, the last line and the chain before it.
	messages bigint NOT NULL DEFAULT nextval('roger.journal_number'),
	bytes bigint NOT NULL DEFAULT 0,
	chain bytea NOT NULL DEFAULT '\x0000000000000000',
	last_start bigint NOT NULL DEFAULT 0,
	last_chain bytea NOT NULL DEFAULT '\x0000000000000000',
	epoch bigint NOT NULL DEFAULT 1,
	witness_bytes bigint NOT NULL DEFAULT 0,
	witness_chain bigint NOT NULL DEFAULT 0,
	-- struct rg_shared: state_wanted, seen_wanted, state_written, seen_written, logged, listed,
	-- carried, prepared, broken, damages, damaged
	words bigint[] NOT NULL DEFAULT '{0,0,0,0,0,0,0,0,0,0,0}'
) WITH (fillfactor = 10);

-- Every other journal: its end and the chain there.
CREATE TABLE roger.journal (
	ws bigint NOT NULL REFERENCES roger.workspace,
	log bigint NOT NULL,
	name text COLLATE "C" NOT NULL,
	journal bigint NOT NULL DEFAULT nextval('roger.journal_number'),
	bytes bigint NOT NULL DEFAULT 0,
	chain bytea NOT NULL DEFAULT '\x0000000000000000',
	PRIMARY KEY (ws, log, name)
) WITH (fillfactor = 10);

-- token: of the transaction, so that a writer who lost its connection finds out.
CREATE TABLE roger.line (
	journal bigint NOT NULL,
	start bigint NOT NULL,
	text bytea NOT NULL,
	token bigint NOT NULL,
	PRIMARY KEY (journal, start)
);

CREATE TABLE roger.agent (
	ws bigint NOT NULL,
	name bytea NOT NULL,
	unread bigint NOT NULL,
	epoch bigint NOT NULL,
	seq bigint NOT NULL,
	PRIMARY KEY (ws, name)
) WITH (fillfactor = 50);

CREATE TABLE roger.count (
	ws bigint NOT NULL,
	hash bigint NOT NULL,
	count bigint NOT NULL,
	PRIMARY KEY (ws, hash)
) WITH (fillfactor = 50);

CREATE TABLE roger.document (
	ws bigint NOT NULL REFERENCES roger.workspace,
	kind bigint NOT NULL,
	name text COLLATE "C" NOT NULL,
	text bytea NOT NULL,
	PRIMARY KEY (ws, kind, name)
) WITH (fillfactor = 50);

-- Who waits for messages: nobody else costs a notification.
CREATE UNLOGGED TABLE roger.waiter (
	ws bigint NOT NULL,
	who bigint NOT NULL,
	until timestamptz NOT NULL,
	PRIMARY KEY (ws, who)
);

-- Lines are only added; a purge writes a journal again, under another number.
CREATE FUNCTION roger.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND pg_catalog.current_setting('roger.rewrite', true) = 'on' THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'journals of roger are append-only';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON roger.line
	FOR EACH STATEMENT EXECUTE FUNCTION roger.refuse();

-- For people who want SQL: every line of a workspace's messages.
CREATE VIEW roger.messages AS
	SELECT w.name AS workspace, l.start, pg_catalog.convert_from(l.text, 'UTF8') AS line
	FROM roger.workspace w JOIN roger.line l ON l.journal = w.messages;

-- What a handle has changed of the words: the first two are added up, the next four grow, the
-- others are set.  logged, if it is at `at`, goes on to `reaches`.
CREATE FUNCTION roger.merge_1(words bigint[], before bigint[], now bigint[], at bigint,
	reaches bigint) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF words[5] = at THEN
		words[5] := reaches;
	END IF;
	IF before IS NULL THEN
		RETURN words;
	END IF;
	FOR i IN 1 .. 11 LOOP
		IF now[i] <> before[i] THEN
			words[i] := CASE WHEN i <= 2 THEN words[i] + now[i] - before[i]
				WHEN i <= 6 AND now[i] > before[i] THEN greatest(words[i], now[i])
				ELSE now[i] END;
		END IF;
	END LOOP;
	RETURN words;
END $$;

-- A session's lock; wait_ms 0: only if it is free.  A client that stands still with a lock that
-- others wait for is ended after idle_ms.
CREATE FUNCTION roger.lock_1(number bigint, wait_ms bigint, idle_ms bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
	IF wait_ms <= 0 THEN
		IF NOT pg_try_advisory_lock(number) THEN
			RETURN false;
		END IF;
	ELSE
		PERFORM set_config('lock_timeout', wait_ms::text, true);
		PERFORM pg_advisory_lock(number);
	END IF;
	PERFORM set_config('idle_session_timeout', idle_ms::text, false);
	RETURN true;
END $$;

-- The row of a workspace.
CREATE FUNCTION roger.look_1(me bigint, before bigint[], now bigint[])
RETURNS TABLE (state text, place text, last bytea, on_disk boolean, messages bigint, bytes bigint,
	chain bytea, last_start bigint, last_chain bytea, epoch bigint, witness_bytes bigint,
	witness_chain bigint, state_bytes bigint, clock bigint, words bigint[])
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
#variable_conflict use_column
BEGIN
	IF before IS NOT NULL THEN
		PERFORM set_config('synchronous_commit', 'off', true);
		UPDATE roger.workspace SET words = roger.merge_1(words, before, now, NULL, NULL)
			WHERE ws = me;
	END IF;
	RETURN QUERY SELECT w.state, w.place, l.text,
		current_setting('synchronous_standby_names') = ''
			AND pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn(),
		w.messages, w.bytes, w.chain, w.last_start, w.last_chain, w.epoch, w.witness_bytes,
		w.witness_chain, (SELECT length(text)::bigint FROM roger.document d
			WHERE d.ws = w.ws AND kind = 0 AND name = ''),
		(extract(epoch FROM clock_timestamp()) * 1000)::bigint, w.words
		FROM roger.workspace w
		LEFT JOIN roger.line l ON l.journal = w.messages AND l.start = w.last_start
		WHERE w.ws = me;
END $$;

-- The chain after a body, and the body as a whole line.
CREATE FUNCTION roger.chain_1(chain bytea, body bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$ SELECT substring(pg_catalog.sha256(chain || body) FROM 1 FOR 8) $$;
CREATE FUNCTION roger.close_1(body bytea, chain bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT body || '\x2c22636861696e223a22'
		|| pg_catalog.convert_to(pg_catalog.encode(chain, 'hex'), 'UTF8') || '\x227d0a' $$;

-- One step of messages: changes figures, takes the lock of the journal's end, and adds lines
-- (without the chain, which is computed here).  guess: the caller decided without a lock, so what
-- it relied on is checked, else RG001 undoes all; the lock is held as briefly as can be, so it
-- comes last, and who comes with that of look_1() is kept apart.  Agents: what is added to
-- unread and to seq in epoch, and the seq that must come out.  Counts: what is added, and the
-- most that may come out (0: any).  passes: logged goes on if it is at the end.
CREATE FUNCTION roger.append_1(me bigint, number bigint, guess boolean, relies bigint, sets bigint,
	lines bytea[], token bigint, names bytea[], agents bigint[], counts bigint[],
	before bigint[], now bigint[], passes boolean)
RETURNS TABLE (start bigint, chain bytea, last_start bigint, last_chain bytea, words bigint[])
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
#variable_conflict use_variable
DECLARE
	w roger.workspace;
	body bytea := set_config('synchronous_commit', 'off', true);
	epoch bigint;
	step bigint;
	n bigint;
	fits boolean := true;
BEGIN
	PERFORM pg_advisory_xact_lock_shared(number);
	FOR i IN 1 .. cardinality(names) LOOP
		epoch := agents[4 * i - 2];
		step := agents[4 * i - 1];
		UPDATE roger.agent a SET unread = greatest(a.unread + agents[4 * i - 3], 0),
			epoch = CASE WHEN step = 0 THEN a.epoch ELSE epoch END,
			seq = step + CASE WHEN step = 0 OR a.epoch = epoch THEN a.seq ELSE 0 END
			WHERE a.ws = me AND a.name = names[i] RETURNING a.seq INTO n;
		IF NOT FOUND THEN
			n := step;
			INSERT INTO roger.agent
				VALUES (me, names[i], greatest(agents[4 * i - 3], 0), epoch, n);
		END IF;
		fits := fits AND (step = 0 OR n = agents[4 * i]);
	END LOOP;
	FOR i IN 1 .. cardinality(counts) / 3 LOOP
		UPDATE roger.count c SET count = greatest(c.count + counts[3 * i - 1], 0)
			WHERE c.ws = me AND c.hash = counts[3 * i - 2] RETURNING c.count INTO n;
		IF NOT FOUND THEN
			n := greatest(counts[3 * i - 1], 0);
			INSERT INTO roger.count VALUES (me, counts[3 * i - 2], n);
		END IF;
		fits := fits AND (counts[3 * i] = 0 OR n <= counts[3 * i]);
	END LOOP;
	IF cardinality(lines) = 1 AND sets = relies THEN
		-- By far the most frequent, so in one statement.
		UPDATE roger.workspace x SET last_start = x.bytes, last_chain = x.chain,
			bytes = x.bytes + length(lines[1]) + 29,
			chain = roger.chain_1(x.chain, lines[1]), words = roger.merge_1(x.words,
				before, now, CASE WHEN passes THEN x.bytes END,
				x.bytes + length(lines[1]) + 29)
			WHERE x.ws = me RETURNING * INTO w;
		start := w.last_start;
		INSERT INTO roger.line VALUES (w.messages, w.last_start,
			roger.close_1(lines[1], w.chain), token);
	ELSE
		SELECT * INTO w FROM roger.workspace x WHERE x.ws = me FOR UPDATE;
		fits := fits AND w.epoch = relies;
		start := w.bytes;
		FOREACH body IN ARRAY lines LOOP
			w.last_start := w.bytes;
			w.last_chain := w.chain;
			w.chain := roger.chain_1(w.chain, body);
			INSERT INTO roger.line
				VALUES (w.messages, w.bytes, roger.close_1(body, w.chain), token);
			w.bytes := w.bytes + length(body) + 29;
		END LOOP;
		w.words := roger.merge_1(w.words, before, now, CASE WHEN passes THEN start END,
			w.bytes);
		w.epoch := sets;
		UPDATE roger.workspace x SET bytes = w.bytes, chain = w.chain, words = w.words,
			last_start = w.last_start, last_chain = w.last_chain, epoch = sets
			WHERE x.ws = me;
	END IF;
	IF guess AND NOT (fits AND w.state = 'live' AND w.epoch = sets AND w.words[8] = 1
			AND w.words[9] IN (0, 4)) THEN
		RAISE EXCEPTION 'not as it was' USING ERRCODE = 'RG001';
	END IF;
	chain := w.chain;
	last_start := w.last_start;
	last_chain := w.last_chain;
	words := w.words;
	RETURN NEXT;
END $$;

-- Add lines to another journal, which is made if need be; chained: they are bodies.  Waits as
-- long as another session has the lock of that number.  again: they may be there already.
CREATE FUNCTION roger.add_1(me bigint, what bigint, called text, lines bytea[], chained boolean,
	token bigint, again boolean, number bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
	j roger.journal;
	body bytea := set_config('synchronous_commit', 'off', true);
BEGIN
	IF number IS NOT NULL THEN
		PERFORM pg_advisory_xact_lock_shared(number);
		IF NOT EXISTS (SELECT FROM roger.workspace w WHERE w.ws = me AND w.state <> 'moved') THEN
			RAISE EXCEPTION 'the workspace was moved';
		END IF;
	END IF;
	IF NOT again AND chained AND cardinality(lines) = 1 THEN
		UPDATE roger.journal x SET bytes = x.bytes + length(lines[1]) + 29,
			chain = roger.chain_1(x.chain, lines[1])
			WHERE x.ws = me AND x.log = what AND x.name = called RETURNING * INTO j;
		IF FOUND THEN
			INSERT INTO roger.line VALUES (j.journal, j.bytes - length(lines[1]) - 29,
				roger.close_1(lines[1], j.chain), token);
			RETURN;
		END IF;
	END IF;
	LOOP
		SELECT * INTO j FROM roger.journal x
			WHERE x.ws = me AND x.log = what AND x.name = called FOR UPDATE;
		EXIT WHEN FOUND;
		INSERT INTO roger.journal(ws, log, name) VALUES (me, what, called)
			ON CONFLICT DO NOTHING;
	END LOOP;
	IF again AND token IN (SELECT l.token FROM roger.line l WHERE l.journal = j.journal
			ORDER BY l.start DESC LIMIT 100000) THEN
		RETURN;
	END IF;
	FOREACH body IN ARRAY lines LOOP
		IF chained THEN
			j.chain := roger.chain_1(j.chain, body);
			body := roger.close_1(body, j.chain);
		END IF;
		INSERT INTO roger.line VALUES (j.journal, j.bytes, body, token);
		j.bytes := j.bytes + length(body);
	END LOOP;
	UPDATE roger.journal x SET bytes = j.bytes, chain = j.chain
		WHERE x.ws = me AND x.log = what AND x.name = called;
END $$;

-- Write a journal again under another number, so that whoever reads the old one notices; false:
-- it is not as it was read.
CREATE FUNCTION roger.rewrite_1(me bigint, what bigint, called text, was bigint, size bigint,
	lines bytea[], ends bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
	fresh bigint := nextval('roger.journal_number');
	at bigint := 0;
	line bytea;
BEGIN
	UPDATE roger.journal SET journal = fresh, chain = int8send(ends), bytes = (SELECT
		coalesce(sum(length(l)), 0) FROM unnest(lines) AS l) WHERE ws = me AND log = what
		AND name = called AND journal = was AND bytes = size;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	PERFORM set_config('roger.rewrite', 'on', true);
	DELETE FROM roger.line WHERE journal = was;
	FOREACH line IN ARRAY lines LOOP
		INSERT INTO roger.line VALUES (fresh, at, line, 0);
		at := at + length(line);
	END LOOP;
	RETURN true;
END $$;

-- Replace a document if it is `was` (checks; NULL: there is none); false: it is not.  again:
-- what was put by a lost call is there already, which counts as put.
CREATE FUNCTION roger.put_1(me bigint, what bigint, called text, checks boolean, was bytea,
	wanted bytea, again boolean) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
	PERFORM set_config('synchronous_commit', 'off', true);
	IF checks AND was IS NOT NULL THEN
		UPDATE roger.document SET text = wanted WHERE ws = me AND kind = what
			AND name = called AND (text = was OR (again AND text = wanted));
	ELSE
		INSERT INTO roger.document AS d VALUES (me, what, called, wanted)
			ON CONFLICT (ws, kind, name) DO UPDATE SET text = wanted
			WHERE NOT checks OR (again AND d.text = wanted);
	END IF;
	RETURN FOUND;
END $$;
-- Plans that stay good. A small workspace that was analysed made append_1 read its tables whole, a row a key, so a move of
-- many messages went as the square of their number. close_1 uses what is STABLE, and was planned anew at each send.
ALTER FUNCTION roger.append_1 SET enable_seqscan = off;
ALTER FUNCTION roger.close_1 STABLE;
