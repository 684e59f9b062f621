CREATE TABLE IF NOT EXISTS messages (
  id TEXT PRIMARY KEY,
  issue_id TEXT NOT NULL,
  from_phase TEXT NOT NULL,
  to_phase TEXT NOT NULL,
  run_counter INTEGER NOT NULL DEFAULT 1,
  message_type TEXT NOT NULL,
  content TEXT NOT NULL,
  metadata TEXT,
  read BOOLEAN NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  read_at INTEGER
);
CREATE INDEX IF NOT EXISTS idx_messages_issue_id ON messages(issue_id);
CREATE INDEX IF NOT EXISTS idx_messages_to_phase ON messages(to_phase);
CREATE INDEX IF NOT EXISTS idx_messages_from_phase ON messages(from_phase);
CREATE INDEX IF NOT EXISTS idx_messages_issue_phase ON messages(issue_id, to_phase);
CREATE INDEX IF NOT EXISTS idx_messages_issue_unread ON messages(issue_id, to_phase, read);
CREATE INDEX IF NOT EXISTS idx_messages_created_at ON messages(created_at);
CREATE INDEX IF NOT EXISTS idx_messages_run_counter ON messages(issue_id, run_counter);
