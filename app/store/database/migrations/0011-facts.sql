-- What is known of a model is kept as its values alone (app/store/models/models.ts), a layer as one letter, and a list is read in its
-- order: so that thousands of models are there at once.
UPDATE models SET facts = json_array(
  coalesce(facts ->> '$.thinking.able', 0),
  coalesce(facts ->> '$.thinking.byDefault', 0),
  facts ->> '$.description.supported',
  json(facts -> '$.description.problems'),
  json(facts -> '$.description.notices'),
  facts ->> '$.description.family',
  facts ->> '$.description.container',
  coalesce((
    SELECT group_concat(CASE WHEN value ->> '$.experts' THEN lower(letter) ELSE letter END, '' ORDER BY key)
    FROM (
      SELECT key, value, CASE value ->> '$.kind'
        WHEN 'attention' THEN 'A' WHEN 'gated-delta' THEN 'D' WHEN 'lightning' THEN 'L' WHEN 'sparse' THEN 'S'
        WHEN 'short-conv' THEN 'C' WHEN 'latent' THEN 'T' WHEN 'encoder' THEN 'E' END AS letter
      FROM json_each(models.facts, '$.description.layers')
    )
  ), ''),
  facts ->> '$.description.hiddenSize',
  facts ->> '$.description.vocabularySize',
  facts ->> '$.description.contextLength',
  facts ->> '$.description.parameters',
  facts ->> '$.description.weightBytes',
  json(facts -> '$.description.types'),
  facts ->> '$.description.activeBytes',
  facts ->> '$.description.stateBytes',
  facts ->> '$.description.contextBytesPerToken',
  facts ->> '$.description.mtp',
  facts ->> '$.description.encoder',
  coalesce(facts ->> '$.description.ranker', 0)
)
WHERE facts IS NOT NULL;

CREATE INDEX models_by_use ON models (last_used_at DESC, added_at DESC);
