import { useEffect, useState } from 'preact/hooks';

/** A button that copies a text. @param what description of the text, for screen readers */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 1500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await copyText(text);
      setState('done');
    } catch {
      setState('failed');
    }
  };
  const words = { idle: 'Copy', done: 'Copied', failed: 'Copy failed' }[state];
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={copy}>
      <span aria-live="polite">{words}</span>
    </button>
  );
}

async function copyText(text: string): Promise<void> {
  // Absent on plain HTTP, except on localhost.
  if ('clipboard' in navigator) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('the browser copies nothing');
}
