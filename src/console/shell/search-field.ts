/** Id of the search field of the shell. */
export const searchFieldId = 'find-anywhere';

/** Goes to the search field, and selects what it holds. */
export function focusSearch(event: Event): void {
  event.preventDefault();
  const field = document.getElementById(searchFieldId);
  if (field instanceof HTMLInputElement) field.select();
}
