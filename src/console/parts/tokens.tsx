import type { Token } from './highlight.ts';

/** Source text in colours. */
export function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, at) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={at} class={`token-${kind}`}>
            {text}
          </span>
        ),
      )}
    </>
  );
}
