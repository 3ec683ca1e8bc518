/** The parts of SVG that the charts need. */

export interface SvgFrame {
  readonly width: number;
  readonly height: number;
  /** Text for screen readers; it is escaped. */
  readonly label: string;
}

const style = `
text { font: 13px system-ui, sans-serif; fill: #334155; }
.title { font-weight: 600; font-size: 15px; fill: #0f172a; }
.ours { fill: #2563eb; }
.other { fill: #94a3b8; }
.whisker { stroke: #0f172a; stroke-width: 2; }
.grid { stroke: #e2e8f0; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #cbd5e1; }
  .title { fill: #f8fafc; }
  .whisker { stroke: #f8fafc; }
  .grid { stroke: #334155; }
  .page { fill: #0f172a; }
}`;

export function svgDocument({ width, height, label }: SvgFrame, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">`,
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="6"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

export interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly className?: string;
}

export function textAt({ x, y, text, anchor = 'start', className }: TextPlace): string {
  const classAttribute = className === undefined ? '' : ` class="${className}"`;
  return `<text x="${Math.round(x)}" y="${Math.round(y)}" text-anchor="${anchor}"${classAttribute}>${escapeXml(text)}</text>`;
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
