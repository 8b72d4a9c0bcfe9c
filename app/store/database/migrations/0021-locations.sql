-- Where words stand in a document is data; the page puts it into words. The spans of a passage say where it begins.
ALTER TABLE passages DROP COLUMN label;

-- An answer keeps it with each source, and with the words it quotes: "p. 3" becomes {"kind":"page","page":3}.
UPDATE messages SET grounding = (
  WITH
    places (place, label) AS (
      SELECT '$.quote', json_extract(grounding, '$.quote.label') WHERE json_type(grounding, '$.quote') = 'object'
      UNION ALL
      SELECT '$.sources[' || key || ']', json_extract(value, '$.label') FROM json_each(grounding, '$.sources')
    ),
    locations (place, location) AS (
      SELECT place, CASE
        WHEN label GLOB 'p. [0-9]*' THEN json_object('kind', 'page', 'page', CAST(substr(label, 4) AS INTEGER))
        WHEN label GLOB 'slide [0-9]*' THEN json_object('kind', 'slide', 'slide', CAST(substr(label, 7) AS INTEGER))
        WHEN label GLOB 'line [0-9]*' THEN json_object('kind', 'line', 'line', CAST(substr(label, 6) AS INTEGER))
        WHEN label GLOB '¶ [0-9]*' THEN json_object('kind', 'block', 'block', CAST(substr(label, 3) AS INTEGER))
        WHEN label GLOB '[A-Z]*[0-9]' THEN json_object('kind', 'cells', 'range', label)
        ELSE 'null'
      END
      FROM places
    ),
    sources (list) AS (
      SELECT json_group_array(json_set(json_remove(value, '$.label'), '$.location', json(location)) ORDER BY key)
      FROM json_each(grounding, '$.sources') JOIN locations ON place = '$.sources[' || key || ']'
    ),
    quote (words) AS (
      SELECT json_set(json_remove(json_extract(grounding, '$.quote'), '$.label'), '$.location', json(location))
      FROM locations WHERE place = '$.quote'
    )
  SELECT json_set(grounding, '$.sources', json(list), '$.quote', json(coalesce((SELECT words FROM quote), 'null')))
  FROM sources
)
WHERE grounding IS NOT NULL;
