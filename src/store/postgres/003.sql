-- One process leads a workspace and makes its lines, chains and figures: so the figures are not
-- here any more, and neither are the functions of programs that each did so for themselves.
DROP FUNCTION IF EXISTS roger.look_1, roger.append_1, roger.add_1, roger.lock_1, roger.rewrite_1, roger.put_1,
	roger.merge_1, roger.chain_1, roger.close_1;
DROP TABLE roger.agent, roger.count, roger.waiter;
ALTER TABLE roger.line DROP COLUMN token;
ALTER TABLE roger.workspace DROP COLUMN words, DROP COLUMN epoch, DROP COLUMN witness_bytes,
	DROP COLUMN witness_chain, DROP COLUMN last_start, DROP COLUMN last_chain,
	ADD COLUMN generation bigint NOT NULL DEFAULT 0, -- of leaders: only the last one may write
	ADD COLUMN writes bigint NOT NULL DEFAULT 0,     -- so many were made
	ADD COLUMN beat timestamptz NOT NULL DEFAULT '-infinity', -- the leader was alive
	ADD COLUMN leader text NOT NULL DEFAULT '';

-- What requests were answered, with what was changed for them: for ten minutes, so that who asks again,
-- since a leader died, is told the same.
CREATE TABLE roger.answer (
	ws bigint NOT NULL,
	key text COLLATE "C" NOT NULL,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	text bytea NOT NULL,
	PRIMARY KEY (ws, key)
);

-- Lead from now on: ends the session of whoever did, takes its lock, and raises the generation, if
-- it is still the one that was seen; else 0.
CREATE FUNCTION roger.lead_3(me bigint, seen bigint, who text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
	mine bigint;
BEGIN
	PERFORM pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = 7402002 AND objid = me AND pid <> pg_backend_pid();
	PERFORM set_config('lock_timeout', '1s', true);
	PERFORM pg_advisory_lock(7402002, me::int);
	UPDATE roger.workspace SET generation = seen + 1, beat = clock_timestamp(), leader = who
		WHERE ws = me AND generation = seen RETURNING generation INTO mine;
	IF mine IS NULL THEN
		PERFORM pg_advisory_unlock(7402002, me::int);
	END IF;
	RETURN coalesce(mine, 0);
END $$;

-- The leader is alive, or (ends) leaves; its clock, or nothing: another one leads.
CREATE FUNCTION roger.beat_3(me bigint, mine bigint, ends boolean) RETURNS SETOF bigint
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
	PERFORM set_config('synchronous_commit', 'off', true);
	RETURN QUERY UPDATE roger.workspace SET beat = CASE WHEN ends THEN '-infinity'
		ELSE clock_timestamp() END WHERE ws = me AND generation = mine
		RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
END $$;

-- Everything that was in the leader's queue, in one transaction that does not wait for the disk: a
-- barrier follows.  Only the leader of this generation, and only its next write; else RG001.
CREATE FUNCTION roger.write_3(me bigint, mine bigint, step bigint, ends bigint, ends_chain bigint,
	numbers bigint[], starts bigint[], texts bytea[],
	made bigint[], logs bigint[], called bytea[], sizes bigint[], chains bigint[],
	gone bigint[], kinds bigint[], names bytea[], documents bytea[], keys bytea[], answers bytea[],
	stands text, stands_at bytea)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog SET enable_seqscan = off AS $$
BEGIN
	PERFORM set_config('synchronous_commit', 'off', true);
	UPDATE roger.workspace SET writes = step + 1, beat = clock_timestamp(), bytes = ends,
		chain = int8send(ends_chain), state = coalesce(stands, state),
		place = coalesce(convert_from(stands_at, 'UTF8'), place)
		WHERE ws = me AND generation = mine AND writes = step;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'another server leads' USING ERRCODE = 'RG001';
	END IF;
	IF cardinality(gone) > 0 THEN
		PERFORM set_config('roger.rewrite', 'on', true);
		DELETE FROM roger.line WHERE journal = ANY (gone);
	END IF;
	INSERT INTO roger.line SELECT * FROM unnest(numbers, starts, texts);
	IF cardinality(made) > 0 THEN
		INSERT INTO roger.journal AS j (ws, log, name, journal, bytes, chain)
			SELECT me, l, convert_from(n, 'UTF8'), m, s, int8send(c)
			FROM unnest(logs, called, made, sizes, chains) AS x(l, n, m, s, c)
			ON CONFLICT (ws, log, name) DO UPDATE SET journal = excluded.journal,
				bytes = excluded.bytes, chain = excluded.chain;
	END IF;
	IF cardinality(kinds) > 0 THEN
		INSERT INTO roger.document SELECT me, k, convert_from(n, 'UTF8'), d
			FROM unnest(kinds, names, documents) AS x(k, n, d)
			ON CONFLICT (ws, kind, name) DO UPDATE SET text = excluded.text;
	END IF;
	IF cardinality(keys) > 0 THEN
		INSERT INTO roger.answer (ws, key, text)
			SELECT me, convert_from(k, 'UTF8'), a FROM unnest(keys, answers) AS x(k, a)
			ON CONFLICT (ws, key) DO UPDATE SET text = excluded.text, at = excluded.at;
	END IF;
END $$;
