/** What people call a view, as far as the page has learnt it. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** By view id. */
export const TitlesContext = createContext<ReadonlyMap<string, string>>(new Map());

export function useTitle(id: string): string | null {
  return useContext(TitlesContext).get(id) ?? null;
}
