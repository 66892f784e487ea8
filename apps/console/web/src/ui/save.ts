/** Files that the browser keeps: tables for spreadsheets, pictures for slides. */

/** Excel takes a text for UTF-8 by this alone. */
const BYTE_ORDER_MARK = '\ufeff';
const PIXELS_PER_UNIT = 2;
const LEGEND_HEIGHT = 24;
const SWATCH = 12;

/** Lets the browser keep what an address has. */
export function download(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

export function saveFile(content: Blob, name: string): void {
  const href = URL.createObjectURL(content);
  download(href, name);
  URL.revokeObjectURL(href);
}

/** A name that every file system takes. */
export const fileName = (label: string, form: string) =>
  `${label.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.${form}`;

function cellOf(value: number | string | undefined): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  // A spreadsheet would compute it (OWASP, "CSV injection").
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** RFC 4180. */
export function csvOf(rows: readonly (readonly (number | string | undefined)[])[]): string {
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

export interface Legend {
  readonly names: readonly string[];
  readonly colours: readonly string[];
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * The chart of a frame as a picture of its own: dark on white, with its legend above; undefined
 * where none is drawn.
 */
export function pictureIn(
  frame: HTMLElement | null,
  { names, colours }: Legend,
): string | undefined {
  const charts = [...(frame?.querySelectorAll('svg') ?? [])];
  const [chart] = charts.sort((a, b) => b.viewBox.baseVal.width - a.viewBox.baseVal.width);
  if (chart === undefined) return undefined;
  const { width, height } = chart.viewBox.baseVal;
  const style = getComputedStyle(document.documentElement);
  const drawn = new XMLSerializer()
    .serializeToString(chart)
    .replaceAll(/var\((--[\w-]+)\)/g, (_all, name: string) => style.getPropertyValue(name));
  const step = width / Math.max(1, names.length);
  const entries = names.map((name, at) => {
    const shown = escaped(name.slice(0, Math.floor(step / 7)));
    return (
      `<rect x="${at * step}" y="6" width="${SWATCH}" height="${SWATCH}" fill="${colours[at]}"/>` +
      `<text x="${at * step + SWATCH + 4}" y="16">${shown}</text>`
    );
  });
  const all = height + LEGEND_HEIGHT;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${all}" ` +
    `viewBox="0 0 ${width} ${all}" font-family="sans-serif" font-size="12" color="black" ` +
    `fill="black"><rect width="100%" height="100%" fill="white"/>${entries.join('')}` +
    `<g transform="translate(0 ${LEGEND_HEIGHT})">${drawn}</g></svg>`
  );
}

/** The picture in points, twice as many as it has units. */
export async function pngOf(picture: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width * PIXELS_PER_UNIT;
  canvas.height = image.height * PIXELS_PER_UNIT;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)));
  });
}
