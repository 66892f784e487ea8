import { Anchor, Button, Group, Select, Stack, Table, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { Link } from 'react-router';
import type { QueryResult } from '../../../src/api-types.js';
import { post, withQuery } from '../api.js';
import { formatCount } from '../ui/format.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure } from '../ui/states.js';

const EXAMPLES = [
  {
    label: 'The newest recalls',
    value:
      'SELECT id, time, user_id, code, total_us / 1000 AS ms\n' +
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

const NUMBERS = /INT|FLOAT|DOUBLE|DECIMAL/;

function Cell({ value, name }: { value: unknown; name: string }) {
  if (value === null) return <Text c="dimmed">null</Text>;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const isRecall = name === 'recall' || (name === 'id' && text.length === 36);
  if (!isRecall) return text.slice(0, 300);
  return (
    <Anchor component={Link} to={`/recalls/${text}`} size="sm">
      {text}
    </Anchor>
  );
}

function Rows({ result }: { result: QueryResult }) {
  const { columns, rows, isCut, milliseconds } = result;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {formatCount(rows.length)} rows in {milliseconds.toFixed(0)} ms
        {isCut && '; there are more: add a LIMIT, or export them all'}
      </Text>
      {rows.length === 0 && (
        <Empty title="No rows">The question was understood; nothing fits.</Empty>
      )}
      <Table.ScrollContainer minWidth={600}>
        <Table verticalSpacing={2} fz="sm" striped>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ name, type }) => (
                <Table.Th key={name} className={NUMBERS.test(type) ? 'number' : ''} title={type}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
              <Table.Tr key={index}>
                {columns.map(({ name, type }, column) => (
                  <Table.Td key={name} className={NUMBERS.test(type) ? 'number' : ''}>
                    <Cell value={row[column]} name={name} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

export function View() {
  const [sql, setSql] = useState(EXAMPLES[0]?.value ?? '');
  const asked = useMutation({ mutationFn: () => post<QueryResult>('sql', { sql }) });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) asked.mutate();
  };
  const file = (format: string) => `/console/api/${withQuery('export', { sql, format })}`;
  return (
    <>
      <PageTitle title="Ask in SQL">
        Tables: recalls, items, pulses, notes, sets. One SELECT (DuckDB); times are UTC.
      </PageTitle>
      <Stack>
        <Select
          label="Examples"
          maw={320}
          data={EXAMPLES}
          value={EXAMPLES.find(({ value }) => value === sql)?.value ?? null}
          onChange={(value) => setSql(value ?? sql)}
        />
        <Textarea
          label="Question"
          description="Ctrl and Enter asks it"
          autosize
          minRows={4}
          spellCheck={false}
          styles={{ input: { fontFamily: 'monospace' } }}
          value={sql}
          onChange={(event) => setSql(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <Group>
          <Button loading={asked.isPending} onClick={() => asked.mutate()}>
            Ask
          </Button>
          <Button component="a" href={file('csv')} variant="default" download>
            Export CSV
          </Button>
          <Button component="a" href={file('parquet')} variant="default" download>
            Export Parquet
          </Button>
        </Group>
        {asked.error !== null && <Failure error={asked.error} />}
        {asked.data !== undefined && <Rows result={asked.data} />}
      </Stack>
    </>
  );
}
