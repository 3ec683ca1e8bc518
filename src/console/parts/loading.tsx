/** Shown where something takes longer than one notices (the style sheet delays it). */
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading…
    </p>
  );
}
