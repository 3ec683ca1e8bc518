import { useLayoutEffect, useState } from 'preact/hooks';
import { findHref, urlHref, usePlace, visit } from './addresses.ts';

/**
 * The only search field. A URL leads to its resolution, any other text to entities with this id or text. On these pages the
 * field shows the current search, so that it can be edited.
 */
export function FindAnywhere() {
  const { path, search } = usePlace();
  const asked = search.get(path === 'urls' ? 'url' : 'find') ?? '';
  const [text, setText] = useState(asked);
  // A layout effect, because users may type before the paint.
  useLayoutEffect(() => setText(asked), [path, asked]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    visit(isUrl(wanted) ? urlHref(wanted) : findHref(wanted));
    setText(wanted);
  };
  return (
    <search class="find-anywhere">
      <form onSubmit={submit}>
        <input
          id={searchFieldId}
          type="search"
          aria-label="Find anywhere"
          aria-keyshortcuts="/"
          placeholder="URL, id or words"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

/** Ids of views and entities begin with `gid://`. */
function isUrl(text: string): boolean {
  return text.startsWith('/') || /^https?:\/\//i.test(text);
}

/** Element id of the search field. */
const searchFieldId = 'find-anywhere';

/** Focuses the search field and selects its text. */
export function focusSearch(event: Event): void {
  event.preventDefault();
  const field = document.getElementById(searchFieldId);
  if (field instanceof HTMLInputElement) field.select();
}

/** Focuses the search field, for pages that are empty before a search. */
export function SearchButton() {
  return (
    <p>
      <button type="button" class="main" onClick={focusSearch}>
        Search
      </button>
    </p>
  );
}
