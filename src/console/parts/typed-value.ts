/** Parses a typed value: a JSON number, boolean, string, null or array, otherwise the text itself. */
export function typedValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : value;
  } catch {
    return text;
  }
}

export function valueText(value: unknown): string {
  return typeof value === 'string' && typedValue(value) === value ? value : (JSON.stringify(value) ?? '');
}
