-- A picture may be what a tool gave: it stands with its call, not with the message.
ALTER TABLE attachments ADD COLUMN use_id TEXT REFERENCES tool_uses (id) ON DELETE CASCADE;
CREATE INDEX attachments_by_use ON attachments (use_id);
