/** Questions to begin with. */
export const EXAMPLES = [
  {
    label: 'The newest recalls',
    value:
      'SELECT id, time, scene, code, total_us / 1000 AS ms\n' +
      'FROM recalls\nORDER BY time DESC\nLIMIT 20',
  },
  {
    label: 'Items that are returned most',
    value:
      'SELECT item_id, any_value(title) AS title, count(*) AS recalls, avg(rank) AS mean_rank\n' +
      'FROM items\nGROUP BY item_id\nORDER BY recalls DESC\nLIMIT 20',
  },
  {
    label: 'Times by hour',
    value:
      "SELECT date_trunc('hour', time) AS hour, count(*) AS recalls,\n" +
      '  quantile_cont(total_us, 0.5) / 1000 AS median_ms,\n' +
      '  quantile_cont(total_us, 0.99) / 1000 AS p99_ms\n' +
      'FROM recalls\nGROUP BY hour\nORDER BY hour',
  },
  {
    label: 'Tokens by where they came from',
    value:
      'SELECT tier, sum(tokens) AS tokens FROM (\n' +
      '  SELECT unnest(map_keys(kv_tokens)) AS tier, unnest(map_values(kv_tokens)) AS tokens\n' +
      '  FROM recalls\n) GROUP BY tier ORDER BY tokens DESC',
  },
];
