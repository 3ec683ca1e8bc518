import { Copy } from '../parts/copy.tsx';

/** A document to be read. */
export function Source({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="code-box">
      <Copy text={text} what={label} />
      <section class="source" aria-label={label} tabIndex={0}>
        <pre>
          {text.split('\n').map((line, at) => (
            <span key={at} class="source-line">
              {`${line}\n`}
            </span>
          ))}
        </pre>
      </section>
    </div>
  );
}
