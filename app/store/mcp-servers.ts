import type { ChatId, McpServerId } from '../protocol/index.ts';
import type { Database } from './database/database.ts';

export type StoredMcpServer = {
  id: McpServerId;
  name: string;
  config: string;
  sealed: number;
  about: string;
  tools: string;
  prompts: string;
};

export const listMcpServers = (db: Database): StoredMcpServer[] =>
  db.all<StoredMcpServer>(
    'SELECT id, name, config, sealed, about, tools, prompts FROM mcp_servers ORDER BY created_at, id',
  );

export const addMcpServer = (db: Database, server: StoredMcpServer, now: number) =>
  db.run(
    'INSERT INTO mcp_servers (id, name, config, sealed, about, tools, prompts, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    server.id,
    server.name,
    server.config,
    server.sealed,
    server.about,
    server.tools,
    server.prompts,
    now,
  );

export const keepMcpOffer = (db: Database, id: McpServerId, tools: string, prompts: string) =>
  db.run('UPDATE mcp_servers SET tools = ?, prompts = ? WHERE id = ?', tools, prompts, id);

export const removeMcpServer = (db: Database, id: McpServerId) => db.run('DELETE FROM mcp_servers WHERE id = ?', id);

export type ToolConsent = { serverId: McpServerId; tool: string; chatId: ChatId | null; digest: string };

/** Consent for this chat or for all. */
export const hasConsent = (db: Database, { serverId, tool, chatId, digest }: ToolConsent): boolean =>
  db.get(
    'SELECT 1 FROM tool_consents WHERE server_id = ? AND tool = ? AND digest = ? AND (chat_id IS NULL OR chat_id = ?)',
    serverId,
    tool,
    digest,
    chatId,
  ) !== undefined;

export const giveConsent = (db: Database, { serverId, tool, chatId, digest }: ToolConsent) =>
  db.run(
    'INSERT OR REPLACE INTO tool_consents (server_id, tool, chat_id, digest) VALUES (?, ?, ?, ?)',
    serverId,
    tool,
    chatId,
    digest,
  );

/** Revokes consent everywhere, including single chats. */
export const takeConsent = (db: Database, serverId: McpServerId, tool: string) =>
  db.run('DELETE FROM tool_consents WHERE server_id = ? AND tool = ?', serverId, tool);
