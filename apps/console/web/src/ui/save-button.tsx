import { Button } from '@mantine/core';

/** Beside a chart or table, which the browser keeps as a file. */
export function SaveButton({
  label,
  form,
  save,
}: {
  label: string;
  form: 'csv' | 'svg' | 'png';
  save: () => void;
}) {
  const name = form.toUpperCase();
  return (
    <Button
      size="compact-xs"
      variant="default"
      ms="auto"
      aria-label={`Save ${label} as ${name}`}
      onClick={save}
    >
      {name}
    </Button>
  );
}
