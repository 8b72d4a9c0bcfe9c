-- The prompts of a server as it last listed them.
ALTER TABLE mcp_servers ADD COLUMN prompts TEXT NOT NULL DEFAULT '[]';
