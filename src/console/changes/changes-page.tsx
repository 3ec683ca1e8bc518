import { PageHead } from '../parts/page-head.tsx';
import { Feed } from './feed.tsx';
import { Webhooks } from './webhooks.tsx';

export function ChangesPage() {
  return (
    <>
      <PageHead
        title="Changes"
        about="What is delivered differently from now on, as it happens, and who is told of it."
      />
      <Feed />
      <Webhooks />
    </>
  );
}
