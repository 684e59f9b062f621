/*
 * index_statements - the statements of the index: each has a name, RG_SQL_NAME, and its SQL.
 *
 * Included where they are numbered (index_db.h), and where they are prepared (index.c, which has
 * the pieces of SQL that several share).
 */
RG_STATEMENT(PROGRESS_GET,
	     "SELECT version, offset, lines, strays, archived, last_offset, last_length, last_hash,"
	     " search_to, seed_to, seed_at, key, rewrites, altered, strange"
	     " FROM progress")
RG_STATEMENT(PROGRESS_SET,
	     "UPDATE progress SET offset = ?1, lines = ?2, strays = ?3, archived = ?4,"
	     " last_offset = ?5, last_length = ?6, last_hash = ?7, search_to = ?8,"
	     " rewrites = ?9, altered = ?10, strange = ?11")
RG_STATEMENT(MESSAGE_ADD,
	     "INSERT INTO messages(position, id, issue_id, from_phase, to_phase, run_counter,"
	     " message_type, hash, read, created_at, seq, epoch, first_offset, first_length,"
	     " line, offset, length, bytes)"
	     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?1, ?13, ?14,"
	     " ?15)"
	     " ON CONFLICT(id) DO NOTHING")
RG_STATEMENT(
	MESSAGE_GET,
	"SELECT rowid, hash, first_offset, first_length, read, bytes FROM messages WHERE id = ?1")
RG_STATEMENT(LINE_SET, "UPDATE messages SET line = ?2, offset = ?3, length = ?4 WHERE rowid = ?1")
RG_STATEMENT(READ_SET, "UPDATE messages SET read = ?2 WHERE rowid = ?1")
RG_STATEMENT(MESSAGE_DROP, "DELETE FROM messages WHERE rowid = ?1")
RG_STATEMENT(LEASE_SET,
	     "INSERT OR REPLACE INTO leases(position, claimed_by, until, confirm_by, due)"
	     " VALUES (?1, ?2, ?3, ?4, ?5)")
RG_STATEMENT(LEASE_DROP, "DELETE FROM leases WHERE position = ?1")
RG_STATEMENT(ACK_ADD, "INSERT OR REPLACE INTO acks VALUES (?1, ?2, ?3)")
RG_STATEMENT(ACK_GET, "SELECT offset, length FROM acks WHERE position = ?1")
RG_STATEMENT(KEY_ADD, "INSERT OR IGNORE INTO keys(sender, key, position) VALUES (?1, ?2, ?3)")
RG_STATEMENT(REPLY_ADD, "INSERT OR IGNORE INTO replies(parent, id, position) VALUES (?1, ?2, ?3)")
RG_STATEMENT(ARCHIVED_ADD,
	     "INSERT INTO archived(position, id, issue_id, from_phase, to_phase, run_counter,"
	     " message_type, read, created_at, offset, length, hash, first_offset, first_length)"
	     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)")
RG_STATEMENT(ARCHIVED_HAS,
	     "SELECT position, hash, first_offset, first_length FROM archived WHERE id = ?1")
RG_STATEMENT(REWRITE_ADD, "INSERT OR IGNORE INTO rewrites(position, member, value, line, offset)"
			  " VALUES (?1, ?2, ?3, ?4, ?5)")
RG_STATEMENT(AGENT_ADD,
	     "INSERT INTO agents(name, sent, received, unread, epoch, seq, last_sent_at,"
	     " last_read_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT(name) DO "
	     "UPDATE SET"
	     " sent = sent + ?2, received = received + ?3, unread = unread + ?4,"
	     " seq = CASE WHEN ?5 > epoch OR (?5 = epoch AND ?6 > seq) THEN ?6 ELSE seq END,"
	     " epoch = max(epoch, ?5), last_sent_at = max(last_sent_at, ?7),"
	     " last_read_at = max(last_read_at, ?8)")
RG_STATEMENT(SEEN_ADD, "INSERT INTO last_seen" RAISED)
RG_STATEMENT(EDGE_ADD, "INSERT INTO edges" RAISED)
RG_STATEMENT(ISSUE_ADD,
	     "INSERT INTO issues(issue_id, context, result, decision, data, unread, bytes)"
	     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(issue_id) DO UPDATE SET"
	     " context = context + ?2, result = result + ?3, decision = decision + ?4,"
	     " data = data + ?5, unread = unread + ?6, bytes = bytes + ?7")
RG_STATEMENT(SPAN_ADD,
	     "INSERT INTO spans(first, last, oldest, newest, types) VALUES (?1, ?2, ?3, ?4, ?5)"
	     " ON CONFLICT(first) DO UPDATE SET last = ?2, oldest = min(oldest, ?3),"
	     " newest = max(newest, ?4), types = types | ?5")
RG_STATEMENT(BEGIN, "BEGIN")
RG_STATEMENT(END, "COMMIT")
RG_STATEMENT(BEGIN_WRITE, "BEGIN IMMEDIATE")
RG_STATEMENT(SEED_SET, "UPDATE progress SET seed_to = ?1, seed_at = ?2")
RG_STATEMENT(STATE_GET, STATE " FROM messages m" STATE_LEASE " WHERE m.id = ?1")
RG_STATEMENT(BOX_GET, STATE " FROM messages m INDEXED BY messages_mailbox" STATE_LEASE
			    " WHERE m.to_phase = ?1 AND m.read = 0 AND m.position > ?2"
			    " ORDER BY m.position LIMIT ?3")
RG_STATEMENT(UNREAD_GET, "SELECT unread FROM agents WHERE name = ?1")
RG_STATEMENT(SEARCH_ADD, "INSERT INTO search(rowid, content, metadata) VALUES (?1, ?2, ?3)")
RG_STATEMENT(ACCEPTED_GET,
	     "SELECT max(seq) FROM (SELECT seq FROM last_seen"
	     " WHERE reader = ?1 AND sender = ?2 AND epoch = ?3 UNION ALL SELECT seq FROM edges"
	     " WHERE reader = ?1 AND sender = ?2 AND epoch = ?3)")
RG_STATEMENT(FIGURES_GET, "SELECT *, (SELECT created_at FROM messages ORDER BY position LIMIT 1),"
			  " (SELECT created_at FROM messages ORDER BY position DESC LIMIT 1)"
			  " FROM (SELECT sum(context), sum(result), sum(decision), sum(data),"
			  " sum(context + result + decision + data > 0) FROM issues),"
			  " (SELECT sum(unread), count(*) FROM agents)")
RG_STATEMENT(EVENT_ADD,
	     "INSERT INTO event(kind, at, line, byte, flags, number, open, detail, file, since,"
	     " outcome, before, bytes, of, log, words, length, sum, id, actor, task, key, peer,"
	     " message, cycle, state, type, evidence, step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	     " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
RG_STATEMENT(EVENT_OF, "SELECT position, kind, at, number, flags, actor FROM event"
		       " WHERE of = ?1 ORDER BY position")
RG_STATEMENT(EVENT_BEFORE, "SELECT coalesce(outcome, 0), at FROM event WHERE id = ?1"
			   " AND +log = ?2 ORDER BY position DESC LIMIT 1")
RG_STATEMENT(EVENT_LAST, "SELECT 1 FROM event LIMIT 1")
RG_STATEMENT(LAST_LOOK, "SELECT (SELECT at FROM event WHERE step = ?2 AND actor = ?1"
			" ORDER BY position DESC LIMIT 1),"
			" (SELECT max(last_read_at) FROM agents WHERE name = ?1)")
RG_STATEMENT(LOG_NEXT, "SELECT position, line FROM event WHERE log = ?1 AND log <> 0"
		       " AND position > ?2 ORDER BY position LIMIT 1")
RG_STATEMENT(EVENT_DROP, "DELETE FROM event WHERE position = ?1")
/* Clear the flag of a first look. */
RG_STATEMENT(EVENT_UNLOOK, "UPDATE event SET flags = flags & ~256 WHERE position = ?1")
RG_STATEMENT(EVENT_UNREAD, "UPDATE event SET flags = flags | 64 WHERE of = ?1 AND kind = ?2")
RG_STATEMENT(EVENT_CLOSE, "UPDATE event SET open = NULL WHERE position = ?1")
/* Log 2 is that of dead letters. */
RG_STATEMENT(EVENT_CLOSE_LETTER, "UPDATE event SET open = NULL WHERE message = ?1"
				 " AND +log = 2 AND open = 1")
RG_STATEMENT(EVENT_CLOSE_DEAD, "UPDATE event SET open = NULL WHERE id = ?1 AND +log = 2"
			       " AND open = 1")
/* Open the row of the first line of a letter again. */
RG_STATEMENT(EVENT_REOPEN, "UPDATE event SET open = 1 WHERE id = ?1 AND +log = 2"
			   " AND kind = ?2 AND NOT flags & 64")
/* Set the words of that row to those of the last line. */
RG_STATEMENT(EVENT_SAY, "UPDATE event SET words = ?3 WHERE id = ?1 AND +log = 2"
			" AND kind = ?2 AND NOT flags & 64")
RG_STATEMENT(EVENT_FORGET, "DELETE FROM event WHERE id = ?1 AND +log = ?2")
/* Delete a row that is known from a note only. */
RG_STATEMENT(EVENT_UNTRUE, "DELETE FROM event WHERE of = ?1 AND flags & 16"
			   " AND kind = ?2")
RG_STATEMENT(MESSAGE_AT, "SELECT hash FROM messages WHERE position = ?1"
			 " UNION ALL SELECT hash FROM archived WHERE position = ?1")
RG_STATEMENT(MESSAGE_STATE, "SELECT read, created_at FROM messages WHERE id = ?1"
			    " UNION ALL SELECT read, created_at FROM archived WHERE id = ?1")
RG_STATEMENT(EVENT_FILE_GET, "SELECT offset, lines, last_offset, last_length, last_hash"
			     " FROM event_files WHERE file = ?1")
RG_STATEMENT(EVENT_FILE_SET,
	     "INSERT OR REPLACE INTO event_files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
RG_STATEMENT(RUN_ADD, "INSERT OR REPLACE INTO runs VALUES"
		      " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)")
RG_STATEMENT(RUN_DROP, "DELETE FROM runs WHERE file = ?1")
