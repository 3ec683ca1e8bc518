/** The title of a view in lists of entities and in the console. */

const titleNames = ['title', 'name', 'heading', 'label'];
const titleCharactersMax = 80;

/** The first nonempty text in a view under a name of a title; null if there is none. */
export function titleOf(view: unknown): string | null {
  if (typeof view !== 'object' || view === null) return null;
  const members = new Map(Object.entries(view));
  const texts = titleNames.map((name) => members.get(name));
  const title = texts.find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return title === undefined ? null : [...title.trim()].slice(0, titleCharactersMax).join('');
}
