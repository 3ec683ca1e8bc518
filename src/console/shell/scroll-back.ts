const waitMs = 5_000;

/**
 * Scrolls to where the user left a page, when the back button leads to it. The browser tries that before the page has loaded its
 * content. `go` stores the position in the history.
 */
export function startScrollBack(): () => void {
  history.scrollRestoration = 'manual';
  let end = () => {};
  const restore = ({ state }: PopStateEvent) => {
    end();
    const wanted = isPlace(state) ? state.scrollY : 0;
    const scroll = () => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) < 1) end();
    };
    const sizes = new ResizeObserver(scroll);
    const timer = setTimeout(() => end(), waitMs);
    end = () => {
      clearTimeout(timer);
      sizes.disconnect();
    };
    sizes.observe(document.body);
  };
  // Who scrolls or types meanwhile is not interrupted.
  const stop = () => end();
  addEventListener('popstate', restore);
  for (const name of userEvents) addEventListener(name, stop, { passive: true });
  return () => {
    end();
    removeEventListener('popstate', restore);
    for (const name of userEvents) removeEventListener(name, stop);
  };
}

const userEvents = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;

function isPlace(state: unknown): state is { readonly scrollY: number } {
  return (
    typeof state === 'object' && state !== null && 'scrollY' in state && typeof state.scrollY === 'number'
  );
}
