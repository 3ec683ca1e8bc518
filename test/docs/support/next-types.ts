import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../../cli/support/command.ts';
import { compilerSays } from '../../support/type-check.ts';

/** The part of https://nextjs.org/docs/app/api-reference that the guides use, because Next.js itself is not installed. */
export const nextTypes = `
declare module 'next/headers' {
  export function draftMode(): Promise<{ readonly isEnabled: boolean; enable(): void; disable(): void }>;
}
declare module 'next/navigation' {
  export function redirect(path: string): never;
  export function permanentRedirect(path: string): never;
  export function notFound(): never;
}
declare module 'next/cache' {
  export function cacheTag(...tags: string[]): void;
  export function cacheLife(profile: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'max'): void;
  export function revalidateTag(tag: string, profile: string | { expire?: number }): undefined;
  export function updateTag(tag: string): undefined;
}
/** \`next build\` makes it of the folders below \`app\`. */
declare type PageProps<_ extends string> = { params: Promise<{ path: string[] }> };
`;

/** The programs of a page by file name, with which each of them begins. */
export function programsOf(page: string): Map<string, string> {
  return new Map(
    [...page.matchAll(/```tsx?\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, file = '', text = '']) => [file, text]),
  );
}

/**
 * The output of the TypeScript compiler for programs of a guide, '' if there are no errors.
 * @param folder has the files @param files relative to it
 */
export async function typeErrorsIn(folder: string, files: readonly string[]): Promise<string> {
  const installed = (name: string) => [path.join(root, 'node_modules', name)];
  const compilerOptions = {
    noEmit: true,
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    skipLibCheck: true,
    types: ['node'],
    typeRoots: installed('@types'),
    jsx: 'react-jsx',
    jsxImportSource: 'preact',
    allowImportingTsExtensions: true,
    paths: {
      '@/*': ['./*'],
      'millrace/client': [path.join(root, 'src/client/client.ts')],
      standardwebhooks: installed('standardwebhooks'),
      'preact/jsx-runtime': installed('preact/jsx-runtime'),
    },
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return await compilerSays(['--project', folder], folder);
}
