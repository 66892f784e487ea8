import { Button, Grid, Group, Loader, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { QueryResult } from '../../../src/api-types.js';
import { post } from '../api.js';
import { formatBytes, formatCount } from '../ui/format.js';
import { PageTitle, Section } from '../ui/section.js';
import { Failure } from '../ui/states.js';
import { EXAMPLES } from './examples.js';
import { draft, type HistoryEntry, keepDraft, useHistory } from './history.js';
import { AskedBefore, SavedQuestions } from './kept-questions.js';
import { QuestionEditor } from './question-editor.js';
import { ResultChart } from './result-chart.js';
import { ResultTable } from './result-table.js';
import { SchemaTree } from './schema-tree.js';
import type { SqlEditor } from './sql-editor.js';
import { useExport } from './use-export.js';

interface Answered {
  readonly result: QueryResult;
  readonly waitedMs: number;
}

/** Asks, so that it can be taken back; what is taken back is no error. */
function useQuestion(done: (sql: string, outcome: string) => void) {
  const stop = useRef<AbortController | undefined>(undefined);
  const asked = useMutation({
    mutationFn: async (sql: string): Promise<Answered | undefined> => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      const begun = performance.now();
      try {
        const result = await post<QueryResult>('sql', { sql }, signal);
        done(sql, `${formatCount(result.rows.length)} rows`);
        return { result, waitedMs: performance.now() - begun };
      } catch (thrown) {
        done(sql, signal.aborted ? 'cancelled' : 'failed');
        if (signal.aborted) return undefined;
        throw thrown;
      }
    },
  });
  return { asked, cancel: () => stop.current?.abort() };
}

const EXPORTS = [
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
  { format: 'arrow', name: 'Arrow' },
] as const;

function ExportButtons({ isEmpty, written }: { isEmpty: boolean; written: () => string }) {
  const { job, error, start, stop } = useExport();
  return (
    <>
      {job === undefined ? (
        EXPORTS.map(({ format, name }) => (
          <Button
            key={format}
            variant="default"
            disabled={isEmpty}
            onClick={() => start(written(), format)}
          >
            Export {name}
          </Button>
        ))
      ) : (
        <Group gap="xs" role="status">
          <Loader size="xs" />
          <Text size="sm">
            Exporting, {(job.milliseconds / 1000).toFixed(0)} s, {formatBytes(job.bytes)}
          </Text>
          <Button variant="default" size="xs" onClick={stop}>
            Cancel the export
          </Button>
        </Group>
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

/** The text of the question: of the address, else what was typed last, else an example. */
function useText() {
  const [query, setQuery] = useSearchParams();
  const inAddress = query.get('sql');
  const [text, setText] = useState(() => inAddress ?? (draft() || (EXAMPLES[0]?.value ?? '')));
  const editor = useRef<SqlEditor | undefined>(undefined);
  const show = useCallback((sql: string) => {
    setText(sql);
    editor.current?.show(sql);
  }, []);
  const shown = useRef(inAddress);
  useEffect(() => {
    // An address that this page has set may come late: the next question is being written.
    if (inAddress !== null && inAddress !== shown.current) show(inAddress);
    shown.current = inAddress;
  }, [inAddress, show]);
  useEffect(() => keepDraft(text), [text]);
  const toAddress = (sql: string) => {
    shown.current = sql;
    setQuery(
      (before) => {
        before.set('sql', sql);
        return before;
      },
      { replace: inAddress === sql },
    );
  };
  // A render may be behind the editor.
  const written = () => editor.current?.text ?? text;
  return { text, setText, show, editor, written, toAddress };
}

function Examples({ text, show }: { text: string; show: (text: string) => void }) {
  return (
    <Select
      label="Examples"
      maw={320}
      data={EXAMPLES}
      value={EXAMPLES.find(({ value }) => value === text)?.value ?? null}
      onChange={(value) => show(value ?? text)}
    />
  );
}

/** Questions that there are, and names to make new ones of. */
function Shelf({
  text,
  show,
  entries,
  insert,
}: {
  text: string;
  show: (text: string) => void;
  entries: readonly HistoryEntry[];
  insert: (name: string) => void;
}) {
  return (
    <Stack>
      <Section title="Saved questions">
        <SavedQuestions sql={text} onChoose={show} />
      </Section>
      <Section title="Tables">
        <SchemaTree onName={insert} />
      </Section>
      <Section title="Asked before">
        <AskedBefore entries={entries} onChoose={show} />
      </Section>
    </Stack>
  );
}

export function View() {
  const { text, setText, show, editor, written, toAddress } = useText();
  const { entries, add } = useHistory();
  const { asked, cancel } = useQuestion((sql, outcome) =>
    add({ sql, outcome, timeMs: Date.now() }),
  );
  const ask = () => {
    const sql = written();
    toAddress(sql);
    asked.mutate(sql);
  };
  const insert = (name: string) => editor.current?.insert(name);
  return (
    <>
      <PageTitle title="Ask in SQL">
        One SELECT (DuckDB) over the recorded recalls and the facts; times are UTC. The address
        holds the question: copy it to share it.
      </PageTitle>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 9 }}>
          <Stack>
            <Examples text={text} show={show} />
            <QuestionEditor text={text} setText={setText} ask={ask} editor={editor} />
            <Group>
              {asked.isPending ? (
                <Button variant="default" onClick={cancel} leftSection={<Loader size="xs" />}>
                  Cancel
                </Button>
              ) : (
                <Button disabled={text.trim() === ''} onClick={ask}>
                  Ask
                </Button>
              )}
              <ExportButtons isEmpty={text.trim() === ''} written={written} />
            </Group>
            {asked.error !== null && <Failure error={asked.error} />}
            {asked.data !== undefined && (
              <>
                <ResultChart result={asked.data.result} />
                <ResultTable result={asked.data.result} waitedMs={asked.data.waitedMs} />
              </>
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 3 }}>
          <Shelf text={text} show={show} entries={entries} insert={insert} />
        </Grid.Col>
      </Grid>
    </>
  );
}
