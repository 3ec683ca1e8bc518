import { useRef } from 'preact/hooks';

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** A text with the numbers of its lines. Tab leaves it, as everywhere: who works with keys alone is not caught. */
export function Editor({ label, text, onText }: EditorProps) {
  const numbers = useRef<HTMLPreElement>(null);
  const lines = text.split('\n').length;
  return (
    <div class="editor">
      <pre ref={numbers} class="editor-numbers" aria-hidden="true">
        {Array.from({ length: lines }, (_, at) => at + 1).join('\n')}
      </pre>
      <textarea
        class="code"
        aria-label={`Source of ${label}`}
        spellcheck={false}
        wrap="off"
        autocapitalize="off"
        rows={Math.min(40, lines + 1)}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onScroll={({ currentTarget }) => {
          if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
