import { Anchor, Text } from '@mantine/core';
import type { SchemaPage } from '../../../src/api-types.js';
import { Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';

/** The tables and their columns; a click puts the name into the question. */
export function SchemaTree({ onName }: { onName: (name: string) => void }) {
  const asked = useAsked<SchemaPage>('analysis/schema');
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting rows={4} />;
  return (
    <div className="schema">
      {asked.data.tables.map(({ name, text, columns }) => (
        <details key={name}>
          <summary title={text}>{name}</summary>
          <ul>
            {columns.map((column) => (
              <li key={column.name} title={column.text}>
                <Anchor component="button" size="xs" onClick={() => onName(column.name)}>
                  {column.name}
                </Anchor>{' '}
                <Text span size="xs" c="dimmed">
                  {column.type}
                </Text>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}
