import { useMemo, useRef } from 'preact/hooks';
import { Copy } from '../parts/copy.tsx';
import { languageOf, type Token, tokenLines, tokensOf } from '../parts/tokens.ts';

interface EditorProps {
  /** Path of the file; its extension determines the language. */
  readonly path: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/**
 * A text editor with line numbers and syntax highlighting. The text area is transparent, on top of the highlighted text. Tab
 * moves the focus out of it, so that keyboard users are not trapped.
 */
export function Editor({ path, text, onText }: EditorProps) {
  const numbers = useRef<HTMLPreElement>(null);
  const colors = useRef<HTMLPreElement>(null);
  const tokens = useMemo(() => tokensOf(text, languageOf(path)), [text, path]);
  const lines = text.split('\n').length;
  return (
    <div class="editor">
      <pre ref={numbers} class="editor-numbers" aria-hidden="true">
        {Array.from({ length: lines }, (_, at) => at + 1).join('\n')}
      </pre>
      <div class="editor-text">
        <pre ref={colors} class="editor-colors" aria-hidden="true">
          <Tokens tokens={tokens} />
          {'\n'}
        </pre>
        <textarea
          class="code"
          aria-label={`Source of ${path}`}
          spellcheck={false}
          wrap="off"
          autocapitalize="off"
          rows={Math.min(40, lines + 1)}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
          onScroll={({ currentTarget: { scrollTop, scrollLeft } }) => {
            numbers.current?.scrollTo(0, scrollTop);
            colors.current?.scrollTo(scrollLeft, scrollTop);
          }}
        />
      </div>
    </div>
  );
}

/** A read-only document. @param path its extension determines the language */
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

/** Highlighted source text. */
function Tokens({ tokens }: { readonly tokens: readonly Token[] }) {
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
