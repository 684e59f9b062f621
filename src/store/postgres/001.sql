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
