-- Tables, columns and settings under the names that the rest of the app uses for the same things.
ALTER TABLE contacts RENAME TO network_log;
ALTER TABLE network_log RENAME COLUMN times TO request_count;
ALTER TABLE pieces RENAME TO message_chunks;
ALTER TABLE samples RENAME TO speed_samples;
ALTER TABLE chats RENAME COLUMN titled TO title_source;
ALTER TABLE models RENAME COLUMN facts TO metadata;
ALTER TABLE library RENAME COLUMN mark TO marker_id;
ALTER TABLE library RENAME COLUMN leaving TO cleanup_path;
ALTER TABLE documents RENAME COLUMN kept TO stored_name;

ALTER TABLE messages RENAME COLUMN aside TO context_cutoff;
UPDATE messages SET context_cutoff = json_object(
  'since', context_cutoff ->> '$.at',
  'summary', context_cutoff ->> '$.summary',
  'restored', json(CASE WHEN context_cutoff ->> '$.back' THEN 'true' ELSE 'false' END)
) WHERE context_cutoff IS NOT NULL;

-- A name that is there already was written by a newer version: it stays.
UPDATE OR IGNORE settings SET key = CASE key
  WHEN 'keys' THEN 'keybindings'
  WHEN 'askHub' THEN 'hubConsent'
  WHEN 'hubMirror' THEN 'hubEndpoint'
  WHEN 'certificates' THEN 'extraCaCertificates'
  WHEN 'warmStart' THEN 'loadOnStart'
  WHEN 'keepAliveMinutes' THEN 'idleUnloadMinutes'
  WHEN 'keepPacked' THEN 'cachePackedWeights'
  WHEN 'announce' THEN 'screenReader'
  WHEN 'titlesByModel' THEN 'autoTitle'
  WHEN 'modelFolder' THEN 'extraModelFolder'
END
WHERE key IN ('keys', 'askHub', 'hubMirror', 'certificates', 'warmStart', 'keepAliveMinutes', 'keepPacked', 'announce',
  'titlesByModel', 'modelFolder');
UPDATE settings SET value = '"reduced"' WHERE key = 'motion' AND value = '"less"';
UPDATE settings SET value = '"collapsed"' WHERE key = 'showThinking' AND value = '"folded"';
