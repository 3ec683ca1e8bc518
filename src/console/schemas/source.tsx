import { Copy } from '../parts/copy.tsx';
import { languageOf, tokenLines } from '../parts/highlight.ts';
import { Tokens } from '../parts/tokens.tsx';

/** A document to be read. @param path its ending says its language */
export function Source({ text, path }: { readonly text: string; readonly path: string }) {
  return (
    <div class="code-box">
      <Copy text={text} what={path} />
      <section class="source" aria-label={path} tabIndex={0}>
        <pre>
          {tokenLines(text, languageOf(path)).map((tokens, at) => (
            <span key={at} class="source-line">
              <Tokens tokens={tokens} />
              {'\n'}
            </span>
          ))}
        </pre>
      </section>
    </div>
  );
}
