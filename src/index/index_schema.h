/*
 * index_schema - the tables of the index, as index.c makes them.
 *
 * Live messages come without their texts: those are read from the journal.  A position is the
 * rowid in messages and archived.  What is in each column: docs/FORMAT.md.
 */
static const char tables[] =
	"CREATE TABLE messages(position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, issue_id"
	" TEXT NOT NULL, from_phase TEXT NOT NULL, to_phase TEXT NOT NULL, run_counter INTEGER"
	" NOT NULL, message_type TEXT NOT NULL, hash INTEGER NOT NULL, read INTEGER NOT NULL,"
	" created_at INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL,"
	" first_offset INTEGER NOT NULL, first_length INTEGER NOT NULL, line INTEGER NOT NULL,"
	" offset INTEGER NOT NULL, length INTEGER NOT NULL, bytes INTEGER NOT NULL);\n"
	"CREATE TABLE leases(position INTEGER PRIMARY KEY, claimed_by TEXT NOT NULL, until"
	" INTEGER NOT NULL, confirm_by INTEGER NOT NULL, due INTEGER NOT NULL);\n"
	"CREATE TABLE acks(position INTEGER PRIMARY KEY, offset INTEGER NOT NULL, length"
	" INTEGER NOT NULL);\n"
	"CREATE TABLE keys(sender TEXT NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL,"
	" PRIMARY KEY(sender, key, position)) WITHOUT ROWID;\n"
	"CREATE TABLE replies(parent TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT"
	" NULL, PRIMARY KEY(parent, position)) WITHOUT ROWID;\n"
	"CREATE INDEX replies_id ON replies(id);\n"
	"CREATE TABLE archived(position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, issue_id"
	" TEXT NOT NULL, from_phase TEXT NOT NULL, to_phase TEXT NOT NULL, run_counter INTEGER"
	" NOT NULL, message_type TEXT NOT NULL, read BOOLEAN NOT NULL, created_at INTEGER NOT"
	" NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, hash INTEGER NOT NULL,"
	" first_offset INTEGER NOT NULL, first_length INTEGER NOT NULL);\n"
	"CREATE TABLE rewrites(line INTEGER NOT NULL, member TEXT NOT NULL, offset INTEGER NOT"
	" NULL, position INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY(position,"
	" member, value)) WITHOUT ROWID;\n"
	"CREATE TABLE agents(name TEXT PRIMARY KEY, sent INTEGER NOT NULL, received INTEGER NOT"
	" NULL, unread INTEGER NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,"
	" last_sent_at INTEGER NOT NULL, last_read_at INTEGER NOT NULL) WITHOUT ROWID;\n"
	"CREATE TABLE issues(issue_id TEXT PRIMARY KEY, context INTEGER NOT NULL, result"
	" INTEGER NOT NULL, decision INTEGER NOT NULL, data INTEGER NOT NULL, unread INTEGER"
	" NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;\n"
	"CREATE TABLE last_seen(reader TEXT NOT NULL, sender TEXT NOT NULL, epoch INTEGER NOT"
	" NULL, seq INTEGER NOT NULL, PRIMARY KEY(reader, sender)) WITHOUT ROWID;\n"
	"CREATE TABLE spans(first INTEGER PRIMARY KEY, last INTEGER NOT NULL, oldest INTEGER"
	" NOT NULL, newest INTEGER NOT NULL, types INTEGER NOT NULL);\n"
	"CREATE TABLE edges(reader TEXT NOT NULL, sender TEXT NOT NULL, epoch INTEGER NOT NULL,"
	" seq INTEGER NOT NULL, PRIMARY KEY(reader, sender)) WITHOUT ROWID;\n"
	"CREATE TABLE runs(file INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, dispatched_at"
	" INTEGER NOT NULL, expected_by INTEGER NOT NULL, completed_at INTEGER NOT NULL,"
	" recoveries INTEGER NOT NULL, forwarded INTEGER NOT NULL, status INTEGER NOT NULL,"
	" outcome INTEGER NOT NULL, run TEXT NOT NULL, owner TEXT NOT NULL, child TEXT NOT"
	" NULL, issue TEXT NOT NULL, task TEXT NOT NULL, settled_at TEXT NOT NULL);\n"
	"CREATE TABLE progress(one INTEGER PRIMARY KEY CHECK(one = 1), version INTEGER NOT"
	" NULL, offset INTEGER NOT NULL, lines INTEGER NOT NULL, strays INTEGER NOT NULL,"
	" archived INTEGER NOT NULL, last_offset INTEGER NOT NULL, last_length INTEGER NOT"
	" NULL, last_hash INTEGER NOT NULL, search_to INTEGER NOT NULL, seed_to INTEGER NOT"
	" NULL, seed_at INTEGER NOT NULL, key INTEGER NOT NULL, rewrites INTEGER NOT NULL,"
	" altered INTEGER NOT NULL, strange INTEGER NOT NULL);\n";

/* Indexes are made at the end of a rebuild: sorting all rows is quicker than putting each in its
 * place.  The last one is used most. */
static const char bulk_end[] =
	"CREATE INDEX messages_issue ON messages(issue_id);\n"
	"CREATE INDEX messages_to ON messages(to_phase);\n"
	"CREATE INDEX messages_from ON messages(from_phase);\n"
	"CREATE INDEX messages_unread ON messages(issue_id, to_phase, read);\n"
	"CREATE INDEX archived_issue ON archived(issue_id);\n"
	"CREATE INDEX archived_to ON archived(to_phase);\n"
	"CREATE INDEX archived_from ON archived(from_phase);\n"
	"CREATE INDEX messages_mailbox ON messages(to_phase) WHERE read = 0";
