/** What people call a view, as far as the page has learnt it. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** By view id. */
export const TitlesContext = createContext<ReadonlyMap<string, string>>(new Map());

export function useTitle(id: string): string | null {
  return useContext(TitlesContext).get(id) ?? null;
}

const titleNames = ['title', 'name', 'heading', 'label'];
const titleCharactersMax = 80;

/** The first text in a view that reads like its title; null where there is none. */
export function titleOf(view: unknown): string | null {
  if (typeof view !== 'object' || view === null) return null;
  const members = new Map(Object.entries(view));
  const texts = titleNames.map((name) => members.get(name));
  const title = texts.find((text): text is string => typeof text === 'string' && text.trim() !== '');
  return title === undefined ? null : [...title.trim()].slice(0, titleCharactersMax).join('');
}
