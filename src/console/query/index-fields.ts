/** Fields of an index as far as its document says them. */

interface IndexDocument {
  readonly index?: { readonly fields?: Readonly<Record<string, { readonly type?: unknown }>> };
}

export interface IndexField {
  readonly name: string;
  /** '' where it is not known. */
  readonly type: string;
}

/**
 * The fields of an index that is written in JSON; nothing for one in code, which says its fields when it runs.
 * @param documents of the configuration, by path
 */
export function fieldsOf(documents: Readonly<Record<string, string>>, alias: string): IndexField[] {
  const text = documents[`indexes/${alias}.json`] ?? documents[`schemas/${alias}.index.json`];
  if (text === undefined) return [];
  try {
    const { index } = JSON.parse(text) as IndexDocument;
    return Object.entries(index?.fields ?? {}).map(([name, { type }]) => ({
      name,
      type: String(type ?? ''),
    }));
  } catch {
    return [];
  }
}

/** Fields that a search can look in. */
export function textFieldsOf(documents: Readonly<Record<string, string>>, alias: string): string[] {
  return fieldsOf(documents, alias)
    .filter(({ type }) => type === 'text' || type === 'text[]')
    .map(({ name }) => name);
}
