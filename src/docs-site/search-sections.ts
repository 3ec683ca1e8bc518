/** What the search of the site looks through: the text below each heading. */
import { type Document, textOf } from './document.ts';

export interface SearchSection {
  readonly page: string;
  readonly heading: string;
  /** Relative to the site. */
  readonly address: string;
  readonly text: string;
}

export function searchSections(documents: readonly Document[]): SearchSection[] {
  return documents.flatMap((document) => {
    const sections: { page: string; heading: string; address: string; text: string }[] = [];
    for (const token of document.tokens) {
      if (token.type === 'heading') {
        const anchor = document.anchorOf(token);
        const address = `${document.address}${sections.length === 0 ? '' : `#${anchor}`}`;
        sections.push({
          page: document.title,
          heading: textOf(token.tokens ?? []).trim(),
          address,
          text: '',
        });
        continue;
      }
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${textOf([token])} `;
    }
    return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }));
  });
}
