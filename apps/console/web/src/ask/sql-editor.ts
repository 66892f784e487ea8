/** The editor of questions; CodeMirror comes with it, so it is loaded when it is wanted. */

import { autocompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { SchemaPage } from '../../../src/api-types.js';

export interface EditorParts {
  readonly parent: HTMLElement;
  readonly text: string;
  /** Identifiers of the elements that name and describe it. */
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly onText: (text: string) => void;
  readonly onAsk: () => void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--sql-word)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--sql-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--sql-number)' },
  { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
]);

/** DuckDB's grammar stands on that of PostgreSQL. */
const language = (tables: SchemaPage['tables']) =>
  sql({
    dialect: PostgreSQL,
    upperCaseKeywords: true,
    schema: Object.fromEntries(
      tables.map(({ name, text, columns }) => [
        name,
        {
          self: { label: name, type: 'type', info: text },
          children: columns.map((column) => ({
            label: column.name,
            type: 'property',
            detail: column.type,
            info: column.text,
          })),
        },
      ]),
    ),
  });

export class SqlEditor {
  private readonly view: EditorView;
  private readonly tables = new Compartment();

  constructor({ parent, text, labelledBy, describedBy, onText, onAsk }: EditorParts) {
    const ask = () => {
      onAsk();
      return true;
    };
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          // Tab is not taken: it leaves the editor.
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: ask }])),
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          autocompletion(),
          this.tables.of(language([])),
          syntaxHighlighting(COLOURS),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({
            'aria-labelledby': labelledBy,
            'aria-describedby': describedBy,
          }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) onText(state.doc.toString());
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Another question takes the place of the one that is there. */
  show(text: string): void {
    if (this.text === text) return;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Names to complete. */
  complete(tables: SchemaPage['tables']): void {
    this.view.dispatch({ effects: this.tables.reconfigure(language(tables)) });
  }

  /** A text at the cursor, or instead of what is selected. */
  insert(text: string): void {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  close(): void {
    this.view.destroy();
  }
}
