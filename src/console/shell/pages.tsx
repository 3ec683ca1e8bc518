/** The pages, in the order of the navigation. */
import type { ComponentChildren } from 'preact';
import { ChangesPage } from '../changes/changes-page.tsx';
import { ContentPage } from '../content/content-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { QueryPage } from '../query/query-page.tsx';
import { SchemasPage } from '../schemas/schemas-page.tsx';
import { UrlsPage } from '../urls/urls-page.tsx';
import { ViewPage } from '../view/view-page.tsx';

export interface Page {
  readonly name: string;
  /** After `/console/`. */
  readonly path: string;
  /** The shortcut after `g`. */
  readonly letter: string;
  /** @param rest segments of the path after the page's own */
  show(rest: readonly string[]): ComponentChildren;
}

export const pages: readonly Page[] = [
  { name: 'Overview', path: '', letter: 'o', show: () => <OverviewPage /> },
  { name: 'Content', path: 'content', letter: 'c', show: (rest) => <ContentPage rest={rest} /> },
  { name: 'View', path: 'view', letter: 'v', show: () => <ViewPage /> },
  { name: 'URLs', path: 'urls', letter: 'u', show: () => <UrlsPage /> },
  { name: 'Query', path: 'query', letter: 'q', show: () => <QueryPage /> },
  {
    name: 'Schemas',
    path: 'schemas',
    letter: 's',
    show: (rest) => <SchemasPage document={rest.join('/')} />,
  },
  { name: 'Changes', path: 'changes', letter: 'h', show: () => <ChangesPage /> },
];
