import { Skeleton, Text } from '@mantine/core';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import type { SchemaPage } from '../../../src/api-types.js';
import { useAsked } from '../ui/use-asked.js';
import type { SqlEditor } from './sql-editor.js';

/**
 * The text of the question, with highlighting and names of the tables to complete. Once it is
 * loaded the editor owns the text, which may be ahead of `text`: a render never writes it back.
 */
export function QuestionEditor({
  text,
  setText,
  ask,
  editor,
}: {
  text: string;
  setText: (text: string) => void;
  ask: () => void;
  editor: RefObject<SqlEditor | undefined>;
}) {
  const id = useId();
  const parent = useRef<HTMLDivElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  const latest = useRef({ text, setText, ask });
  latest.current = { text, setText, ask };
  const schema = useAsked<SchemaPage>('analysis/schema').data;
  useEffect(() => {
    let isGone = false;
    void import('./sql-editor.js').then((loaded) => {
      if (isGone || parent.current === null) return;
      editor.current = new loaded.SqlEditor({
        parent: parent.current,
        text: latest.current.text,
        labelledBy: `${id}-label`,
        describedBy: `${id}-help`,
        onText: (now) => latest.current.setText(now),
        onAsk: () => latest.current.ask(),
      });
      setLoaded(true);
    });
    return () => {
      isGone = true;
      editor.current?.close();
      editor.current = undefined;
    };
  }, [editor, id]);
  useEffect(() => {
    if (isLoaded && schema !== undefined) editor.current?.complete(schema.tables);
  }, [editor, isLoaded, schema]);
  return (
    <div>
      <Text id={`${id}-label`} size="sm" fw={500}>
        Question
      </Text>
      <Text id={`${id}-help`} size="xs" c="dimmed">
        Ctrl and Enter asks it; Ctrl and Space completes a name
      </Text>
      {!isLoaded && <Skeleton height={120} mt={4} />}
      <div ref={parent} className="sql-editor" />
    </div>
  );
}
