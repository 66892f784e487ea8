import { Button } from '@mantine/core';

/** Button beside a chart or table, which the browser keeps as a file. */
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
      aria-label={`Save ${label} as ${name}`}
      onClick={save}
    >
      {name}
    </Button>
  );
}
